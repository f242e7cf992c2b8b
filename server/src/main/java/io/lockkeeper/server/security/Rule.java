package io.lockkeeper.server.security;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One rule of the policy: what it names is allowed.
 *
 * @param number its place in the file, from 1
 * @param name what the file calls it
 * @param identities whom it means: who matches one of these
 * @param locks the locks that it means
 * @param rights what it allows, without what these imply
 */
record Rule(
    int number,
    Optional<String> name,
    List<IdentityPattern> identities,
    List<LockPattern> locks,
    Set<Right> rights) {

  boolean means(Identity identity) {
    return identities.stream().anyMatch(pattern -> pattern.matches(identity));
  }

  boolean means(String lock) {
    return locks.stream().anyMatch(pattern -> pattern.matches(lock));
  }

  boolean gives(Right right) {
    return rights.stream().anyMatch(given -> given.implies(right));
  }

  /** Returns the rights as the file says them. */
  String rightsText() {
    return rights.equals(EnumSet.allOf(Right.class))
        ? "all"
        : String.join(", ", rights.stream().map(Right::key).toList());
  }

  @Override
  public String toString() {
    return "rule " + number + name.map(text -> " (" + text + ")").orElse("");
  }
}
