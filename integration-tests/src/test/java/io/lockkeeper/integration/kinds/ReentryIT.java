package io.lockkeeper.integration.kinds;

import static io.lockkeeper.v1.ReleaseOutcome.RELEASE_OUTCOME_ALREADY_RELEASED;
import static io.lockkeeper.v1.ReleaseOutcome.RELEASE_OUTCOME_DECREMENTED;
import static io.lockkeeper.v1.ReleaseOutcome.RELEASE_OUTCOME_RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Owners who ask for what they hold. */
final class ReentryIT {

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();
  @AutoClose private final Tenant holder = Tenant.of(channel, "holder");
  @AutoClose private final Tenant waiter = Tenant.of(channel, "waiter");

  @Test
  void reentryIsGrantedPastTheQueueByAnEntryBesideTheFirst() {
    // Given
    String lock = "reentry/queue";
    try (Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      holder.ask("1", "task", Tenant.mutex(lock));
      String first = znodes.entries(lock).get(0);
      waiter.ask("w", "", Tenant.mutex(lock));

      // When
      EventCase answer = holder.ask("2", "task", Tenant.mutex(lock));

      // Then
      assertThat(answer).isEqualTo(EventCase.GRANTED);
      assertThat(holder.awaitGrant("2").getHoldCount()).isEqualTo(2);
      Awaitility.await().untilAsserted(() -> assertThat(znodes.entries(lock)).hasSize(3));
      assertThat(znodes.entries(lock))
          .filteredOn(e -> sequence(e).equals(sequence(first)))
          .hasSize(2);
      assertThat(waiter.hasHeard("w", EventCase.GRANTED)).isFalse();
    }
  }

  private static String sequence(String entry) {
    return entry.substring(entry.length() - 10);
  }

  @Test
  void everyLevelIsShownWithTheTokenThatAllOfThemHave() {
    // Given
    String lock = "reentry/shown";
    holder.ask("1", "task", Tenant.mutex(lock));
    final long token = holder.awaitGrant("1").getFencingToken();
    waiter.ask("w", "", Tenant.mutex(lock));

    // When
    holder.ask("2", "task", Tenant.mutex(lock));

    // Then
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(state(lock).getHoldersList())
                    .extracting(Contender::getRequestId, Contender::getFencingToken)
                    .containsExactly(tuple("1", token), tuple("2", token)));
    assertThat(state(lock).getQueueList()).extracting(Contender::getRequestId).containsExactly("w");
    assertThat(holder.awaitGrant("2").getFencingToken()).isEqualTo(token);
  }

  private LockState state(String lock) {
    return LockServiceGrpc.newBlockingStub(channel)
        .getLock(GetLockRequest.newBuilder().setName(lock).build())
        .getLock();
  }

  @Test
  void forcedReleaseTakesEveryLevel() {
    // Given
    String lock = "reentry/forced";
    holder.ask("1", "task", Tenant.mutex(lock));
    holder.ask("2", "task", Tenant.mutex(lock));
    waiter.ask("w", "", Tenant.mutex(lock));

    // When
    AdminServiceGrpc.newBlockingStub(channel)
        .forceRelease(ForceReleaseRequest.newBuilder().setName(lock).build());

    // Then
    for (String level : List.of("1", "2")) {
      assertThat(holder.await(level, EventCase.LOST).getLost().getReason())
          .isEqualTo(LossReason.LOSS_REASON_FORCED);
    }
    waiter.awaitGrant("w");
  }

  @Test
  void forcedReleaseWithAGraceTakesWhatItsOwnerCameToHoldOnceMoreMeanwhile() {
    // Given
    String lock = "reentry/grace";
    holder.ask("1", "task", Tenant.mutex(lock));
    waiter.ask("w", "", Tenant.mutex(lock));

    // When
    AdminServiceGrpc.newBlockingStub(channel)
        .forceRelease(
            ForceReleaseRequest.newBuilder()
                .setName(lock)
                .setGrace(Durations.fromMillis(1_000))
                .build());
    holder.ask("2", "task", Tenant.mutex(lock));
    holder.release("1");

    // Then
    assertThat(holder.await("2", EventCase.LOST).getLost().getReason())
        .isEqualTo(LossReason.LOSS_REASON_FORCED);
    waiter.awaitGrant("w");
  }

  @RepeatedTest(10)
  void forcedReleaseTakesALevelWhoseEntryIsOnItsWay() {
    // Given
    String lock = "reentry/forced-early" + System.nanoTime();
    holder.ask("1", "task", Tenant.mutex(lock));
    waiter.ask("w", "", Tenant.mutex(lock));

    // When
    holder.session().acquire(Tenant.request("2", "task", Tenant.mutex(lock)).build());
    holder.awaitGrant("2");
    AdminServiceGrpc.newBlockingStub(channel)
        .forceRelease(ForceReleaseRequest.newBuilder().setName(lock).build());

    // Then
    assertThat(holder.await("2", EventCase.LOST).getLost().getReason())
        .isEqualTo(LossReason.LOSS_REASON_FORCED);
    waiter.awaitGrant("w");
  }

  @Test
  void levelsThatComeAndGoQuicklyLeaveNothingBehind() {
    // Given
    String lock = "reentry/quick";
    try (Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      holder.ask("outermost", "task", Tenant.mutex(lock));
      waiter.ask("w", "", Tenant.mutex(lock));

      // When: each level is asked for before the one before it is released, and not waited for
      for (int i = 0; i < 200; i++) {
        holder.session().acquire(Tenant.request("level-" + i, "task", Tenant.mutex(lock)).build());
        holder.session().release(i == 0 ? "outermost" : "level-" + (i - 1));
        holder.awaitGrant("level-" + i);
      }

      // Then
      assertThat(waiter.hasHeard("w", EventCase.GRANTED)).isFalse();
      assertThat(holder.outcomeOfRelease("level-199")).isEqualTo(RELEASE_OUTCOME_RELEASED);
      waiter.awaitGrant("w");
      Awaitility.await().untilAsserted(() -> assertThat(znodes.entries(lock)).hasSize(1));
      for (int i = 0; i < 199; i++) {
        assertThat(holder.hasHeard("level-" + i, EventCase.LOST)).isFalse();
      }
    }
  }

  @Test
  void everyLevelIsReleasedByItselfInAnyOrderAndTheLastOneFreesTheLock() {
    // Given
    String lock = "reentry/levels";
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

  @Test
  void levelThatIsReleasedTwiceCountsOnce() {
    // Given
    String lock = "reentry/twice";
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
    holder.ask("1", "task", Tenant.write(lock));
    holder.ask("2", "task", Tenant.write(lock));
    waiter.ask("w", "", Tenant.write(lock));

    // When
    holder.close();

    // Then
    waiter.awaitGrant("w");
  }
}
