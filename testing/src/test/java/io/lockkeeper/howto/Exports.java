package io.lockkeeper.howto;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockedAction;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.util.Optional;

/** Exports from a database that bears only so many at a time, over all machines. */
final class Exports {

  private final LockkeeperClient client;

  Exports(LockkeeperClient client) {
    this.client = client;
  }

  /** Runs a large export, which counts for two, when its turn has come. */
  void large(LockedAction<RuntimeException> export) throws InterruptedException {
    client.runWithLock(LockRequest.of(LockSpec.permits("exports/database", 2)), export);
  }

  /** Runs a small export if there is room within a second; returns whether there was. */
  boolean small(LockedAction<RuntimeException> export) throws InterruptedException {
    Optional<LockHandle> permit =
        client.asSemaphore("exports/database").tryAcquirePermits(1, Duration.ofSeconds(1));
    if (permit.isEmpty()) {
      return false;
    }
    try (LockHandle held = permit.get()) {
      export.run(held);
      return true;
    }
  }

  /** Says how many exports there may be at a time, from now on. */
  void allow(int limit) {
    client.configureLock("exports/database", limit);
  }
}
