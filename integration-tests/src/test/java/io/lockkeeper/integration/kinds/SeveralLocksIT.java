package io.lockkeeper.integration.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.Refused;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Several locks in one request. */
final class SeveralLocksIT {

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();

  @Test
  void severalLocksOfAnyKindAreGrantedTogetherInTheOrderOfTheRequest() {
    // Given
    try (Tenant tenant = Tenant.of(channel, "tenant")) {

      // When
      EventCase first =
          tenant.ask(
              "all",
              "",
              Tenant.write("several/kinds-z"),
              Tenant.permits("several/kinds-a", 2, 3),
              Tenant.mutex("several/kinds-m"));

      // Then
      assertThat(first).isEqualTo(EventCase.GRANTED);
      assertThat(tenant.await("all", EventCase.GRANTED).getGranted().getGrantsList())
          .extracting(Grant::getName)
          .containsExactly("several/kinds-z", "several/kinds-a", "several/kinds-m");
    }
  }

  @Test
  void requestThatWaitsForOneLockHoldsNoneAndKeepsItsPlaceInAll() {
    // Given
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter");
        Tenant third = Tenant.of(channel, "third")) {
      holder.ask("a", "", Tenant.mutex("several/place-a"));

      // When
      EventCase both =
          waiter.ask("both", "", Tenant.mutex("several/place-b"), Tenant.mutex("several/place-a"));
      EventCase behind = third.ask("b", "", Tenant.mutex("several/place-b"));

      // Then
      assertThat(both).isEqualTo(EventCase.QUEUED);
      assertThat(behind).isEqualTo(EventCase.QUEUED);
      holder.release("a");
      waiter.awaitGrant("both");
      assertThat(third.hasHeard("b", EventCase.GRANTED)).isFalse();
      waiter.release("both");
      third.awaitGrant("b");
    }
  }

  @Test
  void oneDeadlineEndsTheWholeRequestAndLeavesNothing() {
    // Given
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter");
        Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      holder.ask("b", "", Tenant.mutex("several/deadline-b"));

      // When
      waiter.ask(
          Tenant.request(
                  "both",
                  "",
                  Tenant.mutex("several/deadline-a"),
                  Tenant.mutex("several/deadline-b"))
              .setWaitTimeout(Durations.fromMillis(300))
              .build());

      // Then
      assertThat(waiter.awaitNotAcquired("both").getReason())
          .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
      assertThat(holder.ask("a", "", Tenant.mutex("several/deadline-a")))
          .isEqualTo(EventCase.GRANTED);
      assertThat(znodes.entries("several/deadline-b")).hasSize(1);
    }
  }

  @Test
  void oneLockOfAnotherKindRefusesTheWholeRequest() {
    // Given
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant asker = Tenant.of(channel, "asker");
        Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      holder.ask("rw", "", Tenant.read("several/kind-rw"));

      // When
      Refused refusal =
          asker.askInVain(
              Tenant.request(
                      "both",
                      "",
                      Tenant.mutex("several/kind-free"),
                      Tenant.mutex("several/kind-rw"))
                  .build());

      // Then
      assertThat(refusal.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION.value());
      assertThat(refusal.getMessage()).contains("several/kind-rw", "READ_WRITE");
      assertThat(znodes.entries("several/kind-free")).isEmpty();
    }
  }

  @Test
  void nameThatComesTwiceIsRefused() {
    // Given
    try (Tenant tenant = Tenant.of(channel, "tenant")) {

      // When
      Refused refusal =
          tenant.askInVain(
              Tenant.request(
                      "twice", "", Tenant.read("several/twice"), Tenant.write("several/twice"))
                  .build());

      // Then
      assertThat(refusal.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT.value());
      assertThat(refusal.getField()).startsWith("acquire.locks");
    }
  }

  @Test
  void oppositeOrdersNeverBlockEachOther() {
    // Given
    try (Tenant one = Tenant.of(channel, "one");
        Tenant other = Tenant.of(channel, "other")) {
      for (int round = 0; round < 50; round++) {
        String id = "round-" + round;

        // When
        one.session()
            .acquire(
                Tenant.request(
                        id, "", Tenant.mutex("several/cross-a"), Tenant.mutex("several/cross-b"))
                    .build());
        other
            .session()
            .acquire(
                Tenant.request(
                        id, "", Tenant.mutex("several/cross-b"), Tenant.mutex("several/cross-a"))
                    .build());

        // Then: whoever is first releases, then the other is granted
        releaseWhenGranted(one, other, id);
      }
    }
  }

  private static void releaseWhenGranted(Tenant one, Tenant other, String id) {
    Awaitility.await(id)
        .until(() -> one.hasHeard(id, EventCase.GRANTED) || other.hasHeard(id, EventCase.GRANTED));
    Tenant first = one.hasHeard(id, EventCase.GRANTED) ? one : other;
    Tenant second = first == one ? other : one;
    assertThat(second.hasHeard(id, EventCase.GRANTED)).isFalse();
    first.release(id);
    second.awaitGrant(id);
    second.release(id);
  }

  @Test
  void releaseFreesAllOfThem() {
    // Given
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiters = Tenant.of(channel, "waiters")) {
      holder.ask("both", "", Tenant.mutex("several/free-a"), Tenant.write("several/free-b"));
      waiters.ask("a", "", Tenant.mutex("several/free-a"));
      waiters.ask("b", "", Tenant.read("several/free-b"));

      // When
      holder.release("both");

      // Then
      waiters.awaitGrant("a");
      waiters.awaitGrant("b");
    }
  }
}
