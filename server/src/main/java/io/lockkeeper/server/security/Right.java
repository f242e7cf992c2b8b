package io.lockkeeper.server.security;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What somebody may be allowed to do with locks. */
public enum Right {
  /** Look at a lock: its holders, its queue, its tokens. */
  READ,
  /** Acquire it in mode READ. */
  ACQUIRE_SHARED,
  /** Acquire it in any mode. */
  ACQUIRE,
  /** Ask its holders to give way. */
  REQUEST_RELEASE,
  /** Hear of its changes. */
  WATCH,
  /** Take it away from its holders. */
  RELEASE_OTHERS,
  /** Set the limit of its permits. */
  CONFIGURE,
  /** Freeze it; on all locks: see and close others' leases, see the cluster, drain. */
  ADMIN;

  /** Returns the right's name in the policy: {@code acquire-shared}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the right of that name. */
  public static Optional<Right> ofKey(String key) {
    return Arrays.stream(values()).filter(right -> right.key().equals(key)).findFirst();
  }

  /** Returns whether whoever has this right has {@code other} by it. */
  public boolean implies(Right other) {
    return this == other || (this == ACQUIRE && other == ACQUIRE_SHARED);
  }
}
