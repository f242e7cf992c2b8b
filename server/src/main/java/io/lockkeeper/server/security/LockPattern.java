package io.lockkeeper.server.security;

import io.lockkeeper.server.core.lock.LockName;
import java.util.Optional;

/**
 * Which locks a rule means: one name, or all that begin with a prefix.
 *
 * @param text the name, or the prefix without its star
 * @param isPrefix whether it is a prefix
 */
record LockPattern(String text, boolean isPrefix) {

  /**
   * Reads a pattern: a name, or a prefix and one {@code *} at its end; {@code *} alone is all
   * locks.
   *
   * @throws IllegalArgumentException if no lock's name can match it
   */
  static LockPattern parse(String pattern) {
    boolean isPrefix = pattern.endsWith("*");
    String text = isPrefix ? pattern.substring(0, pattern.length() - 1) : pattern;
    if (text.indexOf('*') >= 0) {
      throw new IllegalArgumentException(
          "\"" + pattern + "\": a * may stand at the end only, and once");
    }
    // The shortest name that begins with the prefix shows whether there can be one.
    Optional<String> problem = LockName.problemOf(isPrefix ? text + "x" : text);
    if (problem.isPresent()) {
      throw new IllegalArgumentException("\"" + pattern + "\": a lock's name " + problem.get());
    }
    return new LockPattern(text, isPrefix);
  }

  /** Returns whether it means the lock. */
  boolean matches(String lock) {
    return isPrefix ? lock.startsWith(text) : lock.equals(text);
  }

  @Override
  public String toString() {
    return isPrefix ? text + "*" : text;
  }
}
