package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A coordinator that is alone, and comes back on its own data directory. */
@Alone
final class LoneRestartIT {

  @RegisterExtension private static final Cluster cluster = Cluster.start(Plan.quick(1));

  @Test
  void holderAndWaitersKeepTokenAndPlaceOverAKill() {
    assertNothingIsLostOver("lone/kill", () -> cluster.seat(0).kill());
  }

  @Test
  void holderAndWaitersKeepTokenAndPlaceOverAStop() {
    assertNothingIsLostOver("lone/stop", () -> cluster.seat(0).terminate());
  }

  private static void assertNothingIsLostOver(String lock, Runnable death) {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest second = Guest.at(cluster.connect(0));
        Guest third = Guest.at(cluster.connect(0))) {
      final long token = holder.take("held", lock);
      second.queue("waits", lock);
      third.queue("waits", lock);

      // When
      death.run();
      cluster.seat(0).start();
      third.moveTo(cluster.connect(0));
      second.moveTo(cluster.connect(0));
      holder.moveTo(cluster.connect(0));

      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      third.await("waits", EventCase.QUEUED);
      assertThat(second.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      long next = second.awaitToken("waits");
      assertThat(next).isGreaterThan(token);
      assertThat(third.find("waits", EventCase.GRANTED)).isEmpty();
      second.release("waits");
      assertThat(third.awaitToken("waits")).isGreaterThan(next);
    }
  }

  @Test
  void streamBoundLockIsFreeAtOnceWhenItsCoordinatorComesBack() {
    // Given
    Asking stream = Asking.forLock(cluster.connect(0), "lone/stream");
    final long token = stream.awaitToken();

    // When
    cluster.seat(0).kill();
    cluster.seat(0).start();
    long servingNanos = System.nanoTime();
    Asking next = Asking.forLock(cluster.connect(0), "lone/stream");

    // Then
    assertThat(next.awaitToken()).isGreaterThan(token);
    assertThat(System.nanoTime() - servingNanos)
        .isLessThan(cluster.pace().lockSession().minus(cluster.pace().tick()).toNanos());
    next.hangUp();
  }

  @Test
  void withoutADataDirectoryLeasesAreKeptToo() {
    // Given
    try (Cluster bare = Cluster.start(Plan.quick(1).withoutDataDirectories());
        Guest holder = Guest.at(bare.connect(0));
        Guest waiter = Guest.at(bare.connect(0))) {
      final long token = holder.take("held", "lone/bare");
      waiter.queue("waits", "lone/bare");

      // When
      bare.seat(0).kill();
      bare.seat(0).start();
      waiter.moveTo(bare.connect(0));
      holder.moveTo(bare.connect(0));

      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      waiter.await("waits", EventCase.QUEUED);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
