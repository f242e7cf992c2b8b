package io.lockkeeper.server.core.lock;

import java.util.Optional;

/** A lease as operators name it: by its id, or by the tag that others are shown. */
public sealed interface LeaseName {

  /** How many hexadecimal digits a tag has. */
  int TAG_DIGITS = 16;

  /** Returns the tag. */
  String tag();

  /** Returns what {@code text} names, or empty if it is neither an id nor a tag. */
  static Optional<LeaseName> parse(String text) {
    if (text.length() == TAG_DIGITS && text.matches("[0-9a-f]+")) {
      return Optional.of(new ByTag(text));
    }
    return LeaseId.parse(text).map(ById::new);
  }

  /**
   * By its id.
   *
   * @param id the id
   */
  record ById(LeaseId id) implements LeaseName {
    @Override
    public String tag() {
      return id.tag();
    }
  }

  /**
   * By its tag.
   *
   * @param tag the first 16 hexadecimal digits of its id
   */
  record ByTag(String tag) implements LeaseName {

    /** Returns the half of the id that the tag shows. */
    public long high() {
      return Long.parseUnsignedLong(tag, 16);
    }
  }
}
