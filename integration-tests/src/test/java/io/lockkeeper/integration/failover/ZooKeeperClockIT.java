package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.WallClock;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.NotAcquiredReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** ZooKeeper's wall clock is set an hour on, and the coordinator restarted after that. */
final class ZooKeeperClockIT {

  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofSeconds(5);

  private static AcquireRequest request(String requestId, Duration wait) {
    return AcquireRequest.newBuilder()
        .setRequestId(requestId)
        .addLocks(Guest.lock("clock/lock", LockMode.LOCK_MODE_EXCLUSIVE))
        .setWaitTimeout(Guest.proto(wait))
        .build();
  }

  @Test
  void waitsEndNeitherEarlyNorNever() {
    // Given
    WallClock clock = WallClock.right();
    Ensemble ensemble =
        Ensemble.start(Ensemble.Plan.of(1, Pace.QUICK).with(i -> clock.environment()));
    try (Cluster cluster = Cluster.start(Plan.quick(1), ensemble);
        Guest holder = Guest.at(cluster.connect(0));
        Guest patient = Guest.at(cluster.connect(0));
        Guest silent = Guest.at(cluster.connect(0));
        Guest hasty = Guest.at(cluster.connect(0))) {
      holder.take("held", "clock/lock");
      patient.ask(request("repeated", LONG));
      patient.await("repeated", EventCase.QUEUED);
      silent.ask(request("not repeated", LONG));
      silent.await("not repeated", EventCase.QUEUED);
      hasty.ask(request("short", SHORT.multipliedBy(4)));
      hasty.await("short", EventCase.QUEUED);

      // When
      clock.set(Duration.ofHours(1));
      cluster.seat(0).kill();
      cluster.seat(0).start();
      holder.moveTo(cluster.connect(0));
      patient.moveTo(cluster.connect(0));
      silent.resumeAt(cluster.connect(0));
      hasty.resumeAt(cluster.connect(0));
      hasty.ask(request("short", SHORT));

      // Then
      assertThat(hasty.await("short", EventCase.NOT_ACQUIRED).getNotAcquired().getReason())
          .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
      assertThat(patient.find("repeated", EventCase.NOT_ACQUIRED)).isEmpty();
      assertThat(silent.find("not repeated", EventCase.NOT_ACQUIRED)).isEmpty();
      holder.release("held");
      patient.awaitToken("repeated");
      patient.release("repeated");
      silent.awaitToken("not repeated");
    }
  }
}
