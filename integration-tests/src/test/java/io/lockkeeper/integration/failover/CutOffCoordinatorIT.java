package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A coordinator that lives and cannot reach everybody: ZooKeeper, its clients or its peers. What
 * cannot be reached swallows everything, and no connection breaks.
 */
final class CutOffCoordinatorIT {

  @RegisterExtension
  private static final Cluster cluster = Cluster.start(Plan.quick(2).withDoors());

  @Test
  void clientsOfACoordinatorWithoutZooKeeperMoveAndNobodyIsGrantedWhatTheyHold() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest stays = Guest.at(cluster.connect(0))) {
      final long token = holder.take("held", "cut/zookeeper/moves");
      stays.take("held", "cut/zookeeper/stays");
      Asking behindMover = Asking.forLock(cluster.connect(1), "cut/zookeeper/moves");
      Asking behindStayer = Asking.forLock(cluster.connect(1), "cut/zookeeper/stays");
      behindMover.await(EventCase.QUEUED);
      behindStayer.await(EventCase.QUEUED);
      SessionStream old = holder.stream();

      // When
      cluster.wires(0).forEach(ByteProxy::blackhole);
      Guest.awaitAway(old);
      holder.moveTo(cluster.connect(1));

      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      assertThat(behindMover.find(EventCase.GRANTED)).isEmpty();
      // A client that does not move can rely on what the cut-off coordinator still promises, but no
      // longer.
      long grantedNanos = behindStayer.await(EventCase.GRANTED).nanos();
      assertThat(grantedNanos).isGreaterThan(stays.validUntilNanos());
      assertThat(behindMover.find(EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(behindMover.awaitToken()).isGreaterThan(token);
      behindMover.hangUp();
      behindStayer.hangUp();
    }
  }

  @Test
  void grantsAheadOfACommitByACoordinatorWithoutZooKeeperExcludeEverybodyElse() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest next = Guest.at(cluster.connect(0));
        Guest third = Guest.at(cluster.connect(1))) {
      final long token = holder.take("held", "cut/ahead");
      next.queue("next", "cut/ahead");
      third.queue("third", "cut/ahead");

      // When
      cluster.wires(0).forEach(ByteProxy::blackhole);
      holder.stream().release("held");
      long nextToken = next.awaitToken("next");
      Guest.awaitAway(next.stream());
      next.moveTo(cluster.connect(1));
      holder.resumeAt(cluster.connect(1));

      // Then
      assertThat(nextToken).isGreaterThan(token);
      // The entry of the former holder is ahead until its client repeats the release: until then
      // the
      // next is told nothing new, and can rely on its lease.
      next.awaitValidBeyond(next.validUntilNanos());
      assertThat(next.find("next", EventCase.GRANTED)).isEmpty();
      assertThat(next.find("next", EventCase.LOST)).isEmpty();
      holder.release("held");
      assertThat(next.awaitToken("next")).isEqualTo(nextToken);
      assertThat(third.find("third", EventCase.GRANTED)).isEmpty();
      next.release("next");
      assertThat(third.awaitToken("third")).isGreaterThan(nextToken);
    }
  }

  @Test
  void clientsWhoseCoordinatorIsOutOfTheirReachGoOnThroughItsPeer() {
    // Given: the first coordinator, as its clients reach it
    try (ByteProxy network = ByteProxy.to(cluster.seat(0).port());
        Guest holder = Guest.at(cluster.connectTo(network.port()));
        Guest waiter = Guest.at(cluster.connectTo(network.port()))) {
      final long token = holder.take("held", "cut/clients");
      waiter.queue("waits", "cut/clients");

      // When
      network.blackhole();
      holder.moveTo(cluster.connect(1));
      waiter.moveTo(cluster.connect(1));
      final long movedNanos = System.nanoTime();

      // Then: the peer asks the first, which lives
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      waiter.await("waits", EventCase.QUEUED);
      // Renewals through the peer keep both leases alive.
      holder.awaitValidBeyond(movedNanos + cluster.pace().lockSession().toNanos());
      waiter.awaitValidBeyond(movedNanos + cluster.pace().lockSession().toNanos());
      assertThat(holder.find("held", EventCase.LOST)).isEmpty();
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  void coordinatorsThatCannotReachEachOtherStillExcludeAndTakeOver() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1))) {
      final long token = holder.take("held", "cut/peers");
      waiter.queue("waits", "cut/peers");

      // When
      List.of(0, 1).forEach(i -> cluster.door(i).blackhole());
      SessionStream old = holder.stream();
      holder.moveTo(cluster.connect(1));

      // Then: who asks at the other is taken over, and the first lets go
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      Guest.awaitAway(old);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.moveTo(cluster.connect(0));
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      waiter.moveTo(cluster.connect(0)); // Its session may have been taken over as well.
      waiter.await("waits", EventCase.QUEUED);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
