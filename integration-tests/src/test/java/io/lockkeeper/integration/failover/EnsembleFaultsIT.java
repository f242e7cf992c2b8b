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
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.SmallDisk;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** ZooKeeper servers of an ensemble of three that die, pause, are full or are not heard. */
@Alone
final class EnsembleFaultsIT {

  /** Lock sessions that leave a peer the time to notice a coordinator that hears nothing. */
  private static final Pace PACE =
      new Pace(Duration.ofMillis(500), 4, Duration.ofSeconds(18), Duration.ofSeconds(6), false);

  /** Longer than any outage of these tests. */
  private static final Duration TTL = Duration.ofMinutes(1);

  /** What the first server keeps its data on; empty where no file system can be mounted. */
  private static final Optional<SmallDisk> disk = SmallDisk.mount(64);

  @RegisterExtension
  private static final Cluster cluster =
      Cluster.start(
          new Plan(PACE, 3, 2, true, false),
          Ensemble.start(Ensemble.Plan.of(3, PACE).in(EnsembleFaultsIT::directory)));

  private static Path directory(int index) {
    return index == 0 && disk.isPresent()
        ? disk.get().directory()
        : Scratch.directory("zookeeper-" + (index + 1));
  }

  @Test
  void deathOfTheLeaderCostsNothingAndGrantsGoOn() {
    assertNothingIsLostOver("ensemble/leader", load -> restart(cluster.ensemble().leader(), load));
  }

  @Test
  void deathOfAFollowerCostsNothingAndGrantsGoOn() {
    assertNothingIsLostOver(
        "ensemble/follower", load -> restart(cluster.ensemble().followers().get(0), load));
  }

  private static void restart(ZooKeeperProcess victim, Load load) {
    victim.kill();
    load.awaitTurns();
    victim.start();
  }

  @Test
  void pausesOfSingleServersCostNothing() {
    assertNothingIsLostOver(
        "ensemble/pauses",
        load -> {
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
        load -> {
          // Every break moves sessions to another server.
          for (int i = 0; i < 8; i++) {
            cluster.wires(i % 2).forEach(ByteProxy::cut);
            letPass(Duration.ofMillis(300));
          }
        });
  }

  @Test
  void fullDiskOfOneServerCostsNothing() {
    if (disk.isEmpty()) {
      System.out.println("SKIPPED: a small file system cannot be mounted here");
    }
    Assumptions.assumeTrue(disk.isPresent(), "SKIPPED: no small file system can be mounted here");
    ZooKeeperProcess victim = cluster.zookeeper();
    assertNothingIsLostOver(
        "ensemble/full",
        load -> {
          disk.get().fill();
          try {
            Awaitility.await("the end of a server that cannot write")
                .until(() -> Ensemble.mode(victim).isEmpty());
            load.awaitTurns();
          } finally {
            disk.get().empty();
          }
          victim.restart();
        });
  }

  private static void assertNothingIsLostOver(String prefix, Consumer<Load> fault) {
    // Given
    try (Load load = Load.start(cluster.addresses(), 8, TTL, prefix)) {
      // When
      fault.accept(load);

      // Then
      load.awaitTurns();
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
      letPass(PACE.lockSession().dividedBy(2));
      majority.forEach(ZooKeeperProcess::resume);

      // Then
      ears.awaitSafety();
      assertThat(ears.wasInJeopardy()).isTrue();
      assertThat(held.isValid()).isTrue();
      assertThat(waiting).isNotDone();
      held.close();
      assertThat(waiting.get(1, TimeUnit.MINUTES).fencingToken())
          .isGreaterThan(held.fencingToken());
    }
  }

  @Test
  void quorumThatStaysAwayIsLostByTheDeadlineAndNobodyHoldsMeanwhile() throws Exception {
    // Given
    Ears ears = new Ears();
    try (LockkeeperClient holder = cluster.client(TTL);
        LockkeeperClient other = cluster.client(TTL)) {
      LockHandle held = holder.lock(LockRequest.of("ensemble/long").listener(ears));
      CompletableFuture<LockHandle> waiting = other.acquire(LockRequest.of("ensemble/long"));

      // When
      majority().forEach(ZooKeeperProcess::kill);
      final long killedNanos = System.nanoTime();
      LossReason reason = ears.lost().get(1, TimeUnit.MINUTES);
      final long validUntilNanos = held.validUntilNanos();
      final boolean grantedMeanwhile = waiting.isDone() && !waiting.isCompletedExceptionally();
      cluster.ensemble().startAll();

      // Then
      assertThat(reason).isIn(LossReason.SESSION_LOST, LossReason.DEADLINE_PASSED);
      assertThat(ears.wasInJeopardy()).isTrue();
      assertThat(validUntilNanos - killedNanos).isLessThan(PACE.lockSession().toNanos());
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

  /**
   * ZooKeeper hears the coordinator and is not heard, as behind a firewall that has lost one
   * direction: the coordinator's attempts to reconnect keep its sessions and its member node alive.
   */
  @Test
  void leasesOfACoordinatorThatHearsNothingOfZooKeeperLiveOnAtItsPeer() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      final long token = holder.take("held", "ensemble/deaf");
      waiter.queue("waits", "ensemble/deaf");
      SessionStream old = holder.stream();

      // When
      final long cutNanos = System.nanoTime();
      cluster.wires(0).forEach(wire -> wire.blackhole(ByteProxy.Way.OUT));
      Guest.awaitAway(old);
      holder.moveTo(cluster.connect(1));

      // Then: the peer takes over before the old session ends
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      holder.awaitValidBeyond(cutNanos + PACE.lockSession().toNanos());
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
