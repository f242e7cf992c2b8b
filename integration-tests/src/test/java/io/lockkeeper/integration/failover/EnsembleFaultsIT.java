package io.lockkeeper.integration.failover;

import static io.lockkeeper.integration.failover.Pace.letPass;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ZooKeeper servers of an ensemble of three that die, sleep and come back. */
final class EnsembleFaultsIT {

  /** Longer than any outage of these tests. */
  private static final Duration TTL = Duration.ofMinutes(1);

  private static Cluster cluster;

  @BeforeAll
  static void start() {
    cluster = Cluster.start(Plan.quick(2).onZooKeepers(3));
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @BeforeEach
  void whole() {
    cluster.ensemble().awaitWhole();
    cluster.restore();
  }

  @Test
  void deathOfTheLeaderCostsNothingAndGrantsGoOn() {
    assertNothingIsLostOver("ensemble/leader", cluster.ensemble().leader());
  }

  @Test
  void deathOfAFollowerCostsNothingAndGrantsGoOn() {
    assertNothingIsLostOver("ensemble/follower", cluster.ensemble().followers().get(0));
  }

  private static void assertNothingIsLostOver(String lock, ZooKeeperProcess victim) {
    // Given: writes are in flight all the time
    try (Guest holder = Guest.at(cluster.connect(0), TTL);
        Guest waiter = Guest.at(cluster.connect(1), TTL);
        Churn churn = Churn.at(cluster.connect(0), lock + "/churn")) {
      final long token = holder.take("held", lock);
      waiter.queue("waits", lock);
      churn.awaitMore(3);

      // When
      victim.kill();

      // Then
      churn.awaitMore(3);
      victim.start();
      churn.awaitMore(3);
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
      assertThat(churn.tokens()).isSorted().doesNotHaveDuplicates();
    }
  }

  @Test
  void quorumThatIsAwayForHalfASessionTimeoutIsJeopardyAndThenSafe() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0), TTL)) {
      final long token = holder.take("held", "ensemble/short");
      Asking waiter = Asking.forLock(cluster.connect(1), "ensemble/short");
      waiter.await(EventCase.QUEUED);
      List<ZooKeeperProcess> majority = majority();

      // When
      majority.forEach(ZooKeeperProcess::pause);
      letPass(cluster.pace().lockSession().dividedBy(2));
      majority.forEach(ZooKeeperProcess::resume);

      // Then
      holder.await("held", EventCase.SAFE);
      assertThat(holder.find("held", EventCase.JEOPARDY)).isPresent();
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken()).isGreaterThan(token);
      waiter.hangUp();
    }
  }

  @Test
  void quorumThatIsAwayForTwoSessionTimeoutsIsLostByTheDeadlineAndNobodyHoldsMeanwhile() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0), TTL)) {
      holder.take("held", "ensemble/long");
      Asking waiter = Asking.forLock(cluster.connect(1), "ensemble/long");
      waiter.await(EventCase.QUEUED);
      List<ZooKeeperProcess> majority = majority();

      // When
      majority.forEach(ZooKeeperProcess::kill);
      final long cutNanos = System.nanoTime();
      holder.await("held", EventCase.JEOPARDY);
      AcquireResponse lost = holder.await("held", EventCase.LOST);
      final long lostNanos = System.nanoTime();
      letPass(cluster.pace().lockSession());
      final boolean grantedMeanwhile = waiter.find(EventCase.GRANTED).isPresent();
      majority.parallelStream().forEach(ZooKeeperProcess::start);

      // Then
      assertThat(lost.getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_SESSION_LOST);
      assertThat(lostNanos - cutNanos).isLessThan(cluster.pace().lockSession().toNanos());
      assertThat(grantedMeanwhile).isFalse();
      cluster.awaitServing();
      Asking next = Asking.forLock(cluster.connect(1), "ensemble/long");
      next.awaitGrant();
      next.hangUp();
      waiter.hangUp();
    }
  }

  @Test
  void pausesOfSingleServersCostNothing() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0), TTL)) {
      final long token = holder.take("held", "ensemble/pauses");
      Asking waiter = Asking.forLock(cluster.connect(1), "ensemble/pauses");
      waiter.await(EventCase.QUEUED);
      List<ZooKeeperProcess> victims = new ArrayList<>(cluster.ensemble().followers());
      victims.add(cluster.ensemble().leader());

      // When
      for (ZooKeeperProcess victim : victims) {
        victim.pause();
        letPass(Duration.ofMillis(1_500));
        victim.resume();
      }

      // Then
      cluster.awaitServing();
      assertThat(holder.stream().keepAliveAnswered(1).hasKeptAlive()).isTrue();
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken()).isGreaterThan(token);
      waiter.hangUp();
    }
  }

  @Test
  void connectionsThatBreakWithWritesInFlightCostNothing() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0), TTL);
        Churn churn = Churn.at(cluster.connect(0), "ensemble/broken/churn")) {
      final long token = holder.take("held", "ensemble/broken");
      Asking waiter = Asking.forLock(cluster.connect(1), "ensemble/broken");
      waiter.await(EventCase.QUEUED);

      // When: every break moves sessions to another server
      for (int i = 0; i < 8; i++) {
        churn.awaitMore(2);
        cluster.wires(0).forEach(ByteProxy::cut);
      }
      churn.awaitMore(2);

      // Then
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken()).isGreaterThan(token);
      assertThat(churn.tokens()).isSorted().doesNotHaveDuplicates();
      waiter.hangUp();
    }
  }

  private static List<ZooKeeperProcess> majority() {
    return List.of(cluster.ensemble().leader(), cluster.ensemble().followers().get(0));
  }
}
