package io.lockkeeper.integration.failover;

import static io.lockkeeper.integration.failover.Pace.letPass;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * A coordinator that ZooKeeper hears and that hears nothing of ZooKeeper, as behind a load balancer
 * or a firewall that has lost one direction. What it sends to connect again and again keeps its
 * sessions alive, and that of its member node too, so that to ZooKeeper it is never gone.
 */
@Alone
final class DeafCoordinatorIT {

  // Long enough for a peer to notice within it.
  private static final Pace PACE =
      new Pace(Duration.ofMillis(500), 4, Duration.ofSeconds(18), Duration.ofSeconds(6), false);

  @AutoClose
  private static final Cluster cluster = Cluster.start(new Plan(PACE, 3, 2, true, false));

  @Test
  void leasesOfACoordinatorThatHearsNothingOfZooKeeperLiveOnAtItsPeer() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      final long token = holder.take("held", "cut/deaf");
      waiter.queue("waits", "cut/deaf");
      SessionStream old = holder.stream();

      // When
      cluster.wires(0).forEach(wire -> wire.blackhole(ByteProxy.Way.OUT));
      Guest.awaitAway(old);
      holder.moveTo(cluster.connect(1));

      // Then: its peer takes over before its word is worth nothing
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      letPass(PACE.lockSession());
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
