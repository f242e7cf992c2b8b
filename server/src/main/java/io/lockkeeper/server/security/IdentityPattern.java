package io.lockkeeper.server.security;

/**
 * Which identities a rule means. {@code *} stands for any run of characters without a {@code /},
 * {@code **} for any run at all, every other character for itself. {@code *} or {@code **} alone
 * match everybody who has proved an identity. Who has proved none is matched by {@code anonymous}
 * and by nothing else, so that no pattern lets strangers in by being wide.
 */
final class IdentityPattern {

  private static final String ANONYMOUS = Identity.ANONYMOUS.name();

  private final String text;
  private final boolean everybody;
  private final boolean literal;

  /** What stands before the first star, and after the last: most names fail there, at once. */
  private final String head;

  private final String tail;

  /**
   * Reads a pattern.
   *
   * @throws IllegalArgumentException if no identity can match it
   */
  IdentityPattern(String text) {
    if (text.indexOf(':') < 0 && text.indexOf('*') < 0 && !text.equals(ANONYMOUS)) {
      throw new IllegalArgumentException(
          "\""
              + text
              + "\" matches no identity: one is spiffe://..., dns:..., subject:..., jwt:..., token:..., or anonymous");
    }
    if (text.length() > Identity.MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "a pattern has at most " + Identity.MAX_NAME_BYTES + " characters");
    }
    this.text = text;
    this.everybody = text.equals("*") || text.equals("**");
    int first = text.indexOf('*');
    this.literal = first < 0;
    this.head = literal ? text : text.substring(0, first);
    this.tail = literal ? text : text.substring(text.lastIndexOf('*') + 1);
  }

  /** Returns whether one of the identity's names matches. */
  boolean matches(Identity identity) {
    if (identity.isAnonymous()) {
      return text.equals(ANONYMOUS);
    }
    return everybody || identity.names().stream().anyMatch(this::matches);
  }

  private boolean matches(String name) {
    if (literal) {
      return name.equals(text);
    }
    return name.length() >= head.length() + tail.length()
        && name.startsWith(head)
        && name.endsWith(tail)
        && runs(name.substring(head.length(), name.length() - tail.length()));
  }

  /**
   * Returns whether what stands between head and tail matches. Follows all ways through the pattern
   * at once: a regular expression would try them one by one, and clients choose their names.
   */
  private boolean runs(String name) {
    String pattern = text.substring(head.length(), text.length() - tail.length());
    boolean[] reached = new boolean[name.length() + 1];
    reached[0] = true;
    for (int p = 0; p < pattern.length(); p++) {
      char c = pattern.charAt(p);
      boolean slashes = c == '*' && p + 1 < pattern.length() && pattern.charAt(p + 1) == '*';
      p += slashes ? 1 : 0;
      boolean[] next = new boolean[reached.length];
      for (int i = 0; i < reached.length; i++) {
        boolean before = i > 0 && (c == '*' ? next : reached)[i - 1];
        next[i] =
            c == '*'
                ? reached[i] || (before && (slashes || name.charAt(i - 1) != '/'))
                : before && name.charAt(i - 1) == c;
      }
      reached = next;
    }
    return reached[name.length()];
  }

  @Override
  public String toString() {
    return text;
  }
}
