package io.lockkeeper.client.internal.protocol;

import io.lockkeeper.client.LockMode;
import io.lockkeeper.client.LockSpec;
import java.util.List;

/** Which locks exclude each other, as far as a client can tell. */
public final class Exclusion {

  private Exclusion() {}

  /** Returns whether it has only one holder of its kind at a time. */
  public static boolean isExclusive(LockSpec lock) {
    return lock.mode() == LockMode.EXCLUSIVE || lock.mode() == LockMode.WRITE;
  }

  /** Returns whether who has one cannot have the other for certain. */
  public static boolean between(List<LockSpec> one, List<LockSpec> other) {
    return one.stream().anyMatch(lock -> other.stream().anyMatch(its -> between(lock, its)));
  }

  private static boolean between(LockSpec one, LockSpec other) {
    return one.name().equals(other.name()) && (isExclusive(one) || isExclusive(other));
  }
}
