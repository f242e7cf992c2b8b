package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A coordinator that is alone, and comes back, most often on its own data directory. */
final class LoneRestartIT {

  /** Sessions that live longer than any of these tests waits: what is free here is free at once. */
  private static final Pace PATIENT =
      new Pace(Duration.ofMillis(500), 4, Duration.ofMinutes(5), Duration.ofSeconds(5), false);

  private static final Plan PLAN = new Plan(PATIENT, 1, 1, true, false);

  @RegisterExtension private static final Cluster cluster = Cluster.start(PLAN);

  @Test
  void holderAndWaitersKeepTokenAndPlaceOverAKill() {
    assertNothingIsLostOver(cluster, "lone/kill", () -> cluster.seat(0).kill());
  }

  @Test
  void holderAndWaitersKeepTokenAndPlaceOverAStop() {
    assertNothingIsLostOver(cluster, "lone/stop", () -> cluster.seat(0).terminate());
  }

  @Test
  void withoutADataDirectoryLeasesAreKeptToo() {
    try (Cluster bare = Cluster.start(PLAN.withoutDataDirectories())) {
      assertNothingIsLostOver(bare, "lone/bare", () -> bare.seat(0).kill());
    }
  }

  private static void assertNothingIsLostOver(Cluster lone, String lock, Runnable death) {
    // Given
    try (Guest holder = Guest.at(lone.connect(0));
        Guest second = Guest.at(lone.connect(0));
        Guest third = Guest.at(lone.connect(0))) {
      final long token = holder.take("held", lock);
      second.queue("waits", lock);
      third.queue("waits", lock);

      // When
      death.run();
      lone.seat(0).start();
      third.moveTo(lone.connect(0));
      second.moveTo(lone.connect(0));
      holder.moveTo(lone.connect(0));

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
    Asking next = Asking.forLock(cluster.connect(0), "lone/stream");

    // Then
    assertThat(next.awaitToken()).isGreaterThan(token);
  }
}
