package io.lockkeeper.server.security;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Who makes a call, as the transport or a token has proved it.
 *
 * <p>A name says where it comes from: a URI of a certificate as it is ({@code spiffe://...}),
 * {@code dns:} and a DNS name of a certificate, {@code subject:} and its distinguished name, {@code
 * jwt:} and the subject of a token, {@code token:} and the name of a static token.
 *
 * @param name what leases belong to, and audit and refusals say: the first of the names
 * @param names all names, any of which a rule of the policy may match
 */
public record Identity(String name, List<String> names) {

  /** The longest name, in bytes of UTF-8: it is kept with every lease. */
  public static final int MAX_NAME_BYTES = 512;

  private static final int MAX_NAMES = 64;

  /** They go along in the headers of a call that is forwarded, which are limited. */
  private static final int MAX_BYTES = 4 * 1024;

  /**
   * Control characters, those that change the direction of text or show nothing, line ends, and
   * halves of characters, all of which UTF-8 would make a question mark.
   */
  private static final Pattern UNFIT = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]");

  /** Somebody who has proved nothing. */
  public static final Identity ANONYMOUS = of("anonymous");

  /**
   * Checks. What the messages say can be said of any name.
   *
   * @throws IllegalArgumentException if there are too many names, one cannot be used, or the first
   *     is not the name
   */
  public Identity {
    names = List.copyOf(names);
    if (names.isEmpty() || !names.get(0).equals(name)) {
      throw new IllegalArgumentException("the first of the names is the name");
    }
    if (names.size() > MAX_NAMES) {
      throw new IllegalArgumentException(
          "an identity has at most " + MAX_NAMES + " names, this one has " + names.size());
    }
    int all = 0;
    for (String each : names) {
      int bytes = each.getBytes(StandardCharsets.UTF_8).length;
      if (bytes == 0 || bytes > MAX_NAME_BYTES) {
        throw new IllegalArgumentException(
            "an identity's name has 1 to " + MAX_NAME_BYTES + " bytes, this one has " + bytes);
      }
      if (UNFIT.matcher(each).find()) {
        throw new IllegalArgumentException("an identity's name has no control characters");
      }
      all += bytes;
    }
    if (all > MAX_BYTES) {
      throw new IllegalArgumentException(
          "an identity's names have at most " + MAX_BYTES + " bytes together, these have " + all);
    }
  }

  /** Returns an identity with one name. */
  public static Identity of(String name) {
    return new Identity(name, List.of(name));
  }

  /** Returns whether nothing is proved. */
  public boolean isAnonymous() {
    return name.equals(ANONYMOUS.name());
  }

  @Override
  public String toString() {
    return name;
  }
}
