package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Coordinators that are told to stop while clients hold and wait. */
@Alone
final class DrainIT {

  @RegisterExtension private static final Cluster cluster = Cluster.start(Plan.quick(2));

  @Test
  void clientsOfACoordinatorThatStopsAreToldAndGoOnAtItsPeer() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(0))) {
      final long token = holder.take("held", "drain/lease");
      waiter.queue("waits", "drain/lease");

      // When
      cluster.seat(0).process().terminate();
      holder.stream().await("goodbye", SessionResponse::hasGoingAway);
      waiter.stream().await("goodbye", SessionResponse::hasGoingAway);
      waiter.moveTo(cluster.connect(1));
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(cluster.seat(0).process().awaitExit()).isIn(0, 143);
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      waiter.await("waits", EventCase.QUEUED);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  void streamBoundLockOfACoordinatorThatStopsIsFreeWhenItIsGone() {
    // Given
    Asking stream = Asking.forLock(cluster.connect(0), "drain/stream");
    final long token = stream.awaitToken();
    Asking waiter = Asking.forLock(cluster.connect(1), "drain/stream");
    waiter.await(EventCase.QUEUED);

    // When
    cluster.seat(0).terminate();
    long goneNanos = System.nanoTime();

    // Then
    long grantedNanos = waiter.await(EventCase.GRANTED).nanos();
    assertThat(waiter.awaitToken()).isGreaterThan(token);
    assertThat(grantedNanos - goneNanos).isLessThan(cluster.pace().memberSession().toNanos());
    waiter.hangUp();
  }

  @Test
  void restartsInTurnUnderLoadCostNoLockAndNobodyHoldsBesideAnother() {
    // Given
    try (Load load = Load.start(cluster.addresses(), 8, Guest.TTL, "drain/load")) {
      // When
      for (Seat seat : cluster.seats()) {
        seat.terminate();
        seat.start();
        load.awaitMarks(load.turners(), System.nanoTime(), Duration.ofSeconds(30));
      }

      // Then
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
    }
  }

  @Test
  void restartsInTurnLoseNothing() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      final long token = holder.take("held", "drain/rolling");
      waiter.queue("waits", "drain/rolling");

      // When
      for (int restarted : List.of(0, 1)) {
        Seat seat = cluster.seat(restarted);
        seat.process().terminate();
        int other = 1 - restarted;
        holder.moveTo(cluster.connect(other));
        waiter.moveTo(cluster.connect(other));
        assertThat(holder.awaitToken("held")).isEqualTo(token);
        waiter.await("waits", EventCase.QUEUED);
        seat.process().awaitExit();
        seat.start();
      }

      // Then
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
