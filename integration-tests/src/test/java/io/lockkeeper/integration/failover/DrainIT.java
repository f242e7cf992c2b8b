package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.SessionResponse;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Coordinators that are told to stop while clients hold and wait. */
final class DrainIT {

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  @Test
  @Tag("smoke")
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
    String held = cluster.entryOf("drain/stream");
    Asking waiter = Asking.forLock(cluster.connect(1), "drain/stream");
    waiter.await(EventCase.QUEUED);

    // When
    cluster.seat(0).terminate();

    // Then
    assertThat(cluster.znodes().exists(held)).isFalse();
    assertThat(waiter.awaitToken()).isGreaterThan(token);
  }

  @Test
  void restartsInTurnUnderLoadCostNoLockAndNobodyHoldsBesideAnother() {
    // Given
    try (Load load = Load.start(cluster.addresses(), 8, Guest.TTL, "drain/load")) {
      // When
      for (Seat seat : cluster.seats()) {
        seat.terminate();
        seat.start();
        load.awaitTurns();
      }

      // Then
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
    }
  }
}
