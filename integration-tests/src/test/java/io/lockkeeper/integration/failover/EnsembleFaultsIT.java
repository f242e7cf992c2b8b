package io.lockkeeper.integration.failover;

import static io.lockkeeper.integration.failover.Pace.letPass;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** ZooKeeper servers of an ensemble of three that die, sleep and come back. */
@Alone
final class EnsembleFaultsIT {

  /** Longer than any outage of these tests. */
  private static final Duration TTL = Duration.ofMinutes(1);

  private static final Duration PATIENCE = Duration.ofSeconds(40);

  @RegisterExtension
  private static final Cluster cluster = Cluster.start(Plan.quick(2).onZooKeepers(3));

  @Test
  void deathOfTheLeaderCostsNothingAndGrantsGoOn() {
    assertNothingIsLostOver("ensemble/leader", () -> restart(cluster.ensemble().leader()));
  }

  @Test
  void deathOfAFollowerCostsNothingAndGrantsGoOn() {
    assertNothingIsLostOver(
        "ensemble/follower", () -> restart(cluster.ensemble().followers().get(0)));
  }

  private static void restart(ZooKeeperProcess victim) {
    victim.kill();
    letPass(Duration.ofSeconds(2));
    victim.start();
  }

  @Test
  void pausesOfSingleServersCostNothing() {
    assertNothingIsLostOver(
        "ensemble/pauses",
        () -> {
          List<ZooKeeperProcess> victims = new ArrayList<>(cluster.ensemble().followers());
          victims.add(cluster.ensemble().leader());
          for (ZooKeeperProcess victim : victims) {
            victim.pause();
            letPass(Duration.ofMillis(1_500));
            victim.resume();
          }
        });
  }

  @Test
  void connectionsThatBreakWithWritesInFlightCostNothing() {
    assertNothingIsLostOver(
        "ensemble/broken",
        () -> {
          // Every break moves sessions to another server.
          for (int i = 0; i < 8; i++) {
            cluster.wires(i % 2).forEach(ByteProxy::cut);
            letPass(Duration.ofMillis(300));
          }
        });
  }

  private static void assertNothingIsLostOver(String prefix, Runnable fault) {
    // Given
    try (Load load = Load.start(cluster.addresses(), 8, TTL, prefix)) {
      // When
      fault.run();

      // Then
      load.awaitMarks(load.turners(), System.nanoTime(), PATIENCE);
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
    }
  }

  @Test
  void quorumThatIsAwayForHalfASessionTimeoutIsJeopardyAndNothingElse() throws Exception {
    // Given
    Ears ears = new Ears();
    try (LockkeeperClient holder = cluster.client(TTL);
        LockkeeperClient other = cluster.client(TTL)) {
      LockHandle held = holder.lock(LockRequest.of("ensemble/short").listener(ears));
      CompletableFuture<LockHandle> waiting = other.acquire(LockRequest.of("ensemble/short"));
      List<ZooKeeperProcess> majority = majority();

      // When
      majority.forEach(ZooKeeperProcess::pause);
      letPass(cluster.pace().lockSession().dividedBy(2));
      majority.forEach(ZooKeeperProcess::resume);

      // Then
      ears.awaitSafety(PATIENCE);
      assertThat(ears.wasInJeopardy()).isTrue();
      assertThat(held.isValid()).isTrue();
      assertThat(waiting).isNotDone();
      held.close();
      assertThat(waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).fencingToken())
          .isGreaterThan(held.fencingToken());
    }
  }

  @Test
  void quorumThatIsAwayForTwoSessionTimeoutsIsLostByTheDeadlineAndNobodyHoldsMeanwhile()
      throws Exception {
    // Given
    Ears ears = new Ears();
    try (LockkeeperClient holder = cluster.client(TTL);
        LockkeeperClient other = cluster.client(TTL)) {
      LockHandle held = holder.lock(LockRequest.of("ensemble/long").listener(ears));
      CompletableFuture<LockHandle> waiting = other.acquire(LockRequest.of("ensemble/long"));
      List<ZooKeeperProcess> majority = majority();

      // When
      majority.forEach(ZooKeeperProcess::kill);
      final long cutNanos = System.nanoTime();
      LossReason reason = ears.lost().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      final long lostNanos = System.nanoTime();
      letPass(cluster.pace().lockSession().multipliedBy(2).minusNanos(lostNanos - cutNanos));
      final boolean grantedMeanwhile = waiting.isDone() && !waiting.isCompletedExceptionally();
      majority.parallelStream().forEach(ZooKeeperProcess::start);

      // Then
      assertThat(reason).isIn(LossReason.SESSION_LOST, LossReason.DEADLINE_PASSED);
      assertThat(ears.wasInJeopardy()).isTrue();
      assertThat(lostNanos - cutNanos).isLessThan(cluster.pace().lockSession().toNanos());
      assertThat(grantedMeanwhile).isFalse();
      cluster.awaitServing();
      try (LockHandle next = other.lock("ensemble/long/after");
          LockHandle again = holder.lock("ensemble/long/again")) {
        assertThat(next.isValid() && again.isValid()).isTrue();
      }
      assertThat(held.isValid()).isFalse();
    }
  }

  private static List<ZooKeeperProcess> majority() {
    return List.of(cluster.ensemble().leader(), cluster.ensemble().followers().get(0));
  }
}
