package io.lockkeeper.integration.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.Refused;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Permits of a limit. */
final class PermitsIT {

  private final ManagedChannel channel = Rig.shared().connect();

  @Test
  void holdersNeverExceedTheLimitAndEachHasATokenOfItsOwn() {
    // Given
    String lock = "permits/limit";
    try (Tenant tenant = Tenant.of(channel, "tenant")) {
      List<Long> tokens = new ArrayList<>();

      // When
      for (String id : List.of("1", "2", "3")) {
        assertThat(tenant.ask(id, "", Tenant.permits(lock, 1, 3))).isEqualTo(EventCase.GRANTED);
        tokens.add(tenant.awaitGrant(id).getFencingToken());
      }
      EventCase fourth = tenant.ask("4", "", Tenant.permits(lock, 1, 3));

      // Then
      assertThat(tokens).isSorted().doesNotHaveDuplicates();
      assertThat(fourth).isEqualTo(EventCase.QUEUED);
      tenant.release("2");
      tenant.awaitGrant("4");
    }
  }

  @Test
  void manyPermitsAreTakenTogetherOrNotAtAllAndNobodyOvertakes() {
    // Given
    String lock = "permits/many";
    try (Tenant tenant = Tenant.of(channel, "tenant")) {
      tenant.ask("two", "", Tenant.permits(lock, 2, 4));

      // When
      EventCase three = tenant.ask("three", "", Tenant.permits(lock, 3, 4));
      EventCase one = tenant.ask("one", "", Tenant.permits(lock, 1, 4));

      // Then
      assertThat(three).isEqualTo(EventCase.QUEUED);
      assertThat(one).as("there is room, but not before the one ahead").isEqualTo(EventCase.QUEUED);
      tenant.release("two");
      tenant.awaitGrant("three");
      tenant.awaitGrant("one");
    }
  }

  @Test
  void waitThatTimesOutTakesNothing() {
    // Given
    String lock = "permits/timeout";
    try (Tenant tenant = Tenant.of(channel, "tenant")) {
      tenant.ask("two", "", Tenant.permits(lock, 2, 3));

      // When
      tenant.ask(
          Tenant.request("impatient", "", Tenant.permits(lock, 2, 3))
              .setWaitTimeout(Durations.fromMillis(200))
              .build());

      // Then
      assertThat(tenant.awaitNotAcquired("impatient").getReason())
          .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
      assertThat(tenant.ask("one", "", Tenant.permits(lock, 1, 3))).isEqualTo(EventCase.GRANTED);
    }
  }

  @Test
  void permitsOfAnEndedLeaseComeBack() {
    // Given
    String lock = "permits/lease";
    try (Tenant waiter = Tenant.of(channel, "waiter")) {
      Tenant holder = Tenant.of(channel, "holder", Duration.ofSeconds(4));
      holder.ask("all", "", Tenant.permits(lock, 5, 5));
      assertThat(waiter.ask("w", "", Tenant.permits(lock, 5, 5))).isEqualTo(EventCase.QUEUED);

      // When: nobody renews the holder's lease
      holder.await("all", EventCase.LOST);

      // Then
      waiter.awaitGrant("w");
    }
  }

  @Test
  void anotherLimitThanTheOneInForceIsRefusedNamingBoth() {
    // Given
    String lock = "permits/mismatch";
    try (Tenant tenant = Tenant.of(channel, "tenant")) {
      tenant.ask("1", "", Tenant.permits(lock, 1, 3));

      // When
      Refused refusal =
          tenant.askInVain(Tenant.request("2", "", Tenant.permits(lock, 1, 7)).build());

      // Then
      assertThat(refusal.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION.value());
      assertThat(refusal.getMessage()).contains("3", "7");
    }
  }

  @Test
  void growingAdmitsWaitersAtOnceAndShrinkingWaitsForReleases() {
    // Given
    String lock = "permits/resize";
    configure(lock, 1);
    try (Tenant tenant = Tenant.of(channel, "tenant")) {
      tenant.ask("1", "", Tenant.permits(lock, 1, 0));
      assertThat(tenant.ask("2", "", Tenant.permits(lock, 1, 0))).isEqualTo(EventCase.QUEUED);

      // When
      configure(lock, 2);
      tenant.awaitGrant("2");
      configure(lock, 1);
      EventCase third = tenant.ask("3", "", Tenant.permits(lock, 1, 0));
      tenant.release("1");

      // Then
      assertThat(third).isEqualTo(EventCase.QUEUED);
      assertThat(tenant.hasHeard("2", EventCase.LOST)).as("shrinking takes nothing").isFalse();
      assertThat(tenant.hasHeard("3", EventCase.GRANTED)).isFalse();
      tenant.release("2");
      tenant.awaitGrant("3");
    } finally {
      configure(lock, 0);
    }
  }

  @Test
  void requestForMoreThanTheLimitIsTurnedAwayWhenTheLimitShrinks() {
    // Given
    String lock = "permits/too-small";
    configure(lock, 5);
    try (Tenant tenant = Tenant.of(channel, "tenant")) {
      tenant.ask("1", "", Tenant.permits(lock, 3, 0));
      assertThat(tenant.ask("2", "", Tenant.permits(lock, 4, 0))).isEqualTo(EventCase.QUEUED);

      // When
      configure(lock, 3);

      // Then
      assertThat(tenant.awaitNotAcquired("2").getReason())
          .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL);
    } finally {
      configure(lock, 0);
    }
  }

  @Test
  void ownerThatHoldsPermitsAndAsksForMoreThanAreLeftForItIsToldAtOnce() {
    // Given
    String lock = "permits/self";
    try (Tenant tenant = Tenant.of(channel, "tenant")) {
      tenant.ask("1", "task", Tenant.permits(lock, 2, 3));

      // When
      EventCase fits = tenant.ask("2", "task", Tenant.permits(lock, 1, 3));
      tenant.release("2");
      tenant.ask("3", "task", Tenant.permits(lock, 2, 3));

      // Then
      assertThat(fits).isEqualTo(EventCase.GRANTED);
      assertThat(tenant.awaitNotAcquired("3").getReason())
          .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    }
  }

  private void configure(String lock, int limit) {
    LockServiceGrpc.newBlockingStub(channel)
        .configureLock(ConfigureLockRequest.newBuilder().setName(lock).setLimit(limit).build());
  }
}
