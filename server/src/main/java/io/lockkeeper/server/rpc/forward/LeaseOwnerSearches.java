package io.lockkeeper.server.rpc.forward;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.lock.LeaseId;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** What all searches share: whom they ask, their clock, and how many may wait at a time. */
public final class LeaseOwnerSearches {

  private static final long LOCATE_SECONDS = 5;

  private final Coordinator coordinator;
  private final PeerLimits limits;
  private final ScheduledExecutorService timer;
  private final Semaphore places;

  public LeaseOwnerSearches(
      Coordinator coordinator, PeerLimits limits, ScheduledExecutorService timer) {
    this.coordinator = coordinator;
    this.limits = limits;
    this.timer = timer;
    this.places = new Semaphore(limits.maxWaiting());
  }

  long patienceNanos() {
    return limits.patience().toNanos();
  }

  /** Takes one of the places of those who wait. */
  boolean tryEnter() {
    return places.tryAcquire();
  }

  /** Gives the place back. */
  void leave() {
    places.release();
  }

  /** Runs {@code next} after a pause: not all at once, since many clients wait for one peer. */
  Future<?> later(Runnable next) {
    long nanos = limits.pause().toNanos();
    long drawn = nanos + ThreadLocalRandom.current().nextLong(nanos + 1);
    return timer.schedule(next, drawn, TimeUnit.NANOSECONDS);
  }

  /** Asks once; answered within some seconds. */
  CompletableFuture<LeaseLocation> locate(LeaseId lease) {
    RefusedException late =
        new RefusedException(
            new Failure(Failure.Reason.UNAVAILABLE, "ZooKeeper does not say who serves the lease"));
    return coordinator
        .locate(lease)
        .copy()
        .orTimeout(LOCATE_SECONDS, TimeUnit.SECONDS)
        .exceptionallyCompose(
            cause ->
                CompletableFuture.failedFuture(
                    cause instanceof java.util.concurrent.TimeoutException ? late : cause));
  }
}
