package io.lockkeeper.integration.kinds;

import static io.lockkeeper.v1.ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED;
import static io.lockkeeper.v1.ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED;
import static io.lockkeeper.v1.ReleaseOutcome.RELEASE_OUTCOME_RELEASED;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Owners who ask for what they hold. */
final class ReentryIT {

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();

  @Test
  void reentryIsGrantedPastTheQueueAndWritesNothing() {
    // Given
    String lock = "reentry/queue";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter");
        Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      holder.ask("1", "task", Tenant.mutex(lock));
      waiter.ask("w", "", Tenant.mutex(lock));
      List<String> entries = znodes.entries(lock);
      long revision = revision(lock);

      // When
      EventCase first = holder.ask("2", "task", Tenant.mutex(lock));

      // Then
      assertThat(first).isEqualTo(EventCase.GRANTED);
      assertThat(holder.awaitGrant("2").getHoldCount()).isEqualTo(2);
      assertThat(znodes.entries(lock)).hasSameElementsAs(entries);
      assertThat(revision(lock)).isEqualTo(revision);
    }
  }

  private long revision(String lock) {
    return LockServiceGrpc.newBlockingStub(channel)
        .getLock(GetLockRequest.newBuilder().setName(lock).build())
        .getLock()
        .getRevision();
  }

  @Test
  void everyLevelIsReleasedByItselfInAnyOrderAndTheLastOneFreesTheLock() {
    // Given
    String lock = "reentry/levels";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter")) {
      for (String level : List.of("1", "2", "3")) {
        holder.ask(level, "task", Tenant.mutex(lock));
      }
      waiter.ask("w", "", Tenant.mutex(lock));

      // When
      ReleaseResponse first = holder.release("1");
      ReleaseResponse third = holder.release("3");

      // Then
      assertThat(first.getOutcome()).isEqualTo(RELEASE_OUTCOME_DECREMENTED);
      assertThat(first.getRemainingHolds()).isEqualTo(2);
      assertThat(third.getOutcome()).isEqualTo(RELEASE_OUTCOME_DECREMENTED);
      assertThat(third.getRemainingHolds()).isEqualTo(1);
      assertThat(waiter.hasHeard("w", EventCase.GRANTED)).isFalse();
      assertThat(holder.outcomeOfRelease("2")).isEqualTo(RELEASE_OUTCOME_RELEASED);
      waiter.awaitGrant("w");
    }
  }

  @Test
  void levelThatIsReleasedTwiceCountsOnce() {
    // Given
    String lock = "reentry/twice";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter")) {
      holder.ask("1", "task", Tenant.mutex(lock));
      holder.ask("2", "task", Tenant.mutex(lock));
      waiter.ask("w", "", Tenant.mutex(lock));
      holder.release("2");

      // When
      holder.session().release("2");

      // Then
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(outcomesOfReleases(holder))
                      .containsExactly(
                          RELEASE_OUTCOME_DECREMENTED, RELEASE_OUTCOME_ALREADY_RELEASED));
      assertThat(waiter.hasHeard("w", EventCase.GRANTED)).isFalse();
      holder.release("1");
      waiter.awaitGrant("w");
    }
  }

  private static List<ReleaseOutcome> outcomesOfReleases(Tenant tenant) {
    return tenant.session().responses().arrivals().stream()
        .filter(arrival -> arrival.value().hasReleased())
        .map(arrival -> arrival.value().getReleased().getResult().getOutcome())
        .toList();
  }

  @Test
  void endOfTheLeaseEndsEveryLevel() {
    // Given
    String lock = "reentry/lease";
    try (Tenant waiter = Tenant.of(channel, "waiter")) {
      Tenant holder = Tenant.of(channel, "holder");
      holder.ask("1", "task", Tenant.write(lock));
      holder.ask("2", "task", Tenant.write(lock));
      waiter.ask("w", "", Tenant.write(lock));

      // When
      holder.close();

      // Then
      waiter.awaitGrant("w");
    }
  }
}
