package io.lockkeeper.integration.clients;

import static io.lockkeeper.integration.failover.Pace.letPass;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.failover.Seat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The clients of every language, when coordinators, connections and they themselves fail. */
final class EveryClientFaultsIT {

  /** Long enough for a client to find another coordinator in. */
  private static final Duration TTL = Duration.ofSeconds(20);

  /** The time to live of leases that end while a test waits. */
  private static final Duration SHORT = Duration.ofSeconds(6);

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

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
        letPass(Duration.ofMillis(200));
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
    // Given
    try (ClientCrew crew = ClientCrew.start(cluster, "every/dead", SHORT);
        LockkeeperClient next = cluster.client(TTL)) {
      crew.takeAll();

      // When
      crew.clients().forEach(client -> client.process().kill());

      // Then
      for (DrivenClient client : crew.clients()) {
        try (LockHandle lock = next.lock(crew.lockOf(client))) {
          assertThat(lock.fencingToken()).isGreaterThan(crew.tokenOf(client));
        }
      }
    }
  }

  @Test
  void clientThatWasStoppedForTooLongBelievesNothingWhenItWakes() throws InterruptedException {
    // Given
    try (ClientCrew crew = ClientCrew.start(cluster, "every/stopped", SHORT);
        LockkeeperClient next = cluster.client(TTL)) {
      crew.takeAll();

      // When
      List<LockHandle> taken = new ArrayList<>();
      for (DrivenClient client : crew.clients()) {
        client.process().pause();
        client.process().askWhileItIsStopped("held", 1);
      }
      for (DrivenClient client : crew.clients()) {
        taken.add(next.lock(crew.lockOf(client)));
      }
      crew.clients().forEach(client -> client.process().resume());

      // Then
      for (DrivenClient client : crew.clients()) {
        assertThat(client.process().believed("held")).as(client::said).isFalse();
        client.awaitLost("held");
        LockHandle lock = taken.get(crew.clients().indexOf(client));
        assertThat(lock.fencingToken()).isGreaterThan(crew.tokenOf(client));
        assertThat(lock.isValid()).isTrue();
      }
    }
  }
}
