package io.lockkeeper.server.core.lock;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The tag of an account: the first 48 bits of a hash of its name, as 12 digits. What outlives a
 * lease in ZooKeeper has the tag of the account that it counts for.
 */
public final class AccountTag {

  /** The tag of the empty account, which is not counted. */
  public static final String NOBODY = "000000000000";

  /** The form of a tag, also in the names of markers. */
  static final String FORM = "[0-9a-f]{12}";

  private static final Pattern PATTERN = Pattern.compile(FORM);

  private AccountTag() {}

  /** Returns the tag of the account with this name. */
  public static String of(String account) {
    if (account.isEmpty()) {
      return NOBODY;
    }
    UUID hash = UUID.nameUUIDFromBytes(account.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().toHexDigits(hash.getMostSignificantBits() >>> 16, NOBODY.length());
  }

  /** Returns {@code text} if it has the form of a tag, and otherwise {@link #NOBODY}. */
  public static String parse(String text) {
    return text.equals(NOBODY) || PATTERN.matcher(text).matches() ? text : NOBODY;
  }
}
