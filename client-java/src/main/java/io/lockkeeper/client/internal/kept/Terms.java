package io.lockkeeper.client.internal.kept;

import io.lockkeeper.client.LockMode;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.internal.protocol.Exclusion;
import java.time.Duration;
import java.util.List;

/**
 * What requests must have in common for one to use what another was granted.
 *
 * @param locks the locks, in their order
 * @param lockDelay how long the next grant waits after a loss
 */
record Terms(List<LockSpec> locks, Duration lockDelay) {

  static Terms of(LockRequest request) {
    return new Terms(request.locks(), request.lockDelay());
  }

  /** Returns whether an owner that has it is granted it once more. */
  boolean isReentrant() {
    return locks.stream()
        .noneMatch(lock -> lock.mode() == LockMode.PERMITS || lock.mode() == LockMode.CUSTOM);
  }

  /** Returns whether only one can have it at a time. */
  boolean isExclusive() {
    return locks.stream().anyMatch(Exclusion::isExclusive);
  }
}
