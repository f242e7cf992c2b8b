package io.lockkeeper.integration.clients;

import static io.lockkeeper.integration.failover.Pace.letPass;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.failover.Seat;
import io.lockkeeper.integration.harness.Alone;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The clients of every language, when coordinators, connections and they themselves fail. */
@Alone
final class EveryClientFaultsIT {

  /** Long enough for a client to find another coordinator in. */
  private static final Duration TTL = Duration.ofSeconds(20);

  private static final Duration SHORT = Duration.ofSeconds(3);

  @RegisterExtension private static final Cluster cluster = Cluster.start(Plan.quick(3));

  @Test
  void killedCoordinatorCostsNoLockAndNoPlace() {
    try (ClientCrew crew = ClientCrew.holding(cluster, "every/kill", TTL)) {
      // When
      cluster.seat(0).kill();

      // Then
      crew.mustHaveKeptEverything();
    }
  }

  @Test
  void pausedCoordinatorCostsNoLockAndNoPlace() {
    try (ClientCrew crew = ClientCrew.holding(cluster, "every/pause", TTL)) {
      // When
      cluster.seat(0).process().pause();

      // Then
      crew.mustHaveKeptEverything();
    }
  }

  @Test
  void connectionsThatBreakAgainAndAgainCostNoLockAndNoPlace() {
    try (ClientCrew crew = ClientCrew.holding(cluster, "every/cut", TTL)) {
      // When
      for (int i = 0; i < 8; i++) {
        crew.cutConnections();
        letPass(Duration.ofMillis(400));
      }

      // Then
      crew.mustHaveKeptEverything();
    }
  }

  @Test
  void rollingRestartCostsNoLockAndNoPlace() {
    try (ClientCrew crew = ClientCrew.holding(cluster, "every/rolling", TTL)) {
      // When
      for (Seat seat : cluster.seats()) {
        assertThat(seat.terminate()).isZero();
        seat.start();
      }

      // Then
      crew.mustHaveKeptEverything();
    }
  }

  @Test
  void killedClientLeavesItsLockToTheNextWhenItsTimeToLiveIsOver() throws InterruptedException {
    try (ClientCrew crew = ClientCrew.start(cluster, "every/dead", SHORT);
        LockkeeperClient next = cluster.client(TTL)) {
      for (DrivenClient client : crew.clients()) {
        // Given
        final long token = client.take("held", crew.lockOf(client));

        // When
        client.process().kill();

        // Then
        try (LockHandle lock = next.lock(crew.lockOf(client))) {
          assertThat(lock.fencingToken()).isGreaterThan(token);
        }
      }
    }
  }

  @Test
  void clientThatWasStoppedForTooLongBelievesNothingWhenItWakes() throws InterruptedException {
    try (ClientCrew crew = ClientCrew.start(cluster, "every/stopped", SHORT);
        LockkeeperClient next = cluster.client(TTL)) {
      for (DrivenClient client : crew.clients()) {
        // Given
        final long token = client.take("held", crew.lockOf(client));
        assertThat(client.believes("held")).as(client::said).isTrue();

        // When
        client.process().pause();
        client.process().askWhileItIsStopped("held", 1);
        LockHandle lock = next.lock(crew.lockOf(client));
        client.process().resume();

        // Then
        assertThat(client.process().believed("held")).as(client::said).isFalse();
        client.awaitLost("held");
        assertThat(lock.fencingToken()).isGreaterThan(token);
        assertThat(lock.isValid()).isTrue();
        lock.close();
      }
    }
  }
}
