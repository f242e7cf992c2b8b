package io.lockkeeper.howto;

import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockedAction;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.time.Instant;

/** Does the work of each tick of a schedule once, on whichever machine comes first. */
final class CronJob {

  /** Which tick was done last: one record that all machines share, such as a row of a database. */
  interface LastTick {

    /** Returns the last tick that was done; {@link Instant#MIN}: none was. */
    Instant get();

    /**
     * Replaces the last tick.
     *
     * @throws IllegalStateException if it has seen a token above {@code fencingToken}
     */
    void set(Instant tick, long fencingToken);
  }

  private final LockkeeperClient client;
  private final LastTick lastTick;
  private final LockedAction<RuntimeException> job;

  CronJob(LockkeeperClient client, LastTick lastTick, LockedAction<RuntimeException> job) {
    this.client = client;
    this.lastTick = lastTick;
    this.job = job;
  }

  /** Does the job unless the tick was done before; returns whether it has done it. */
  boolean runFor(Instant tick) throws InterruptedException {
    LockRequest request =
        LockRequest.of("cron/report")
            .waitAtMost(Duration.ofMinutes(30))
            .metadata("purpose", "report of " + tick);
    return client.withLock(
        request,
        lock -> {
          if (!tick.isAfter(lastTick.get())) {
            return false;
          }
          job.run(lock);
          lastTick.set(tick, lock.fencingToken());
          return true;
        });
  }
}
