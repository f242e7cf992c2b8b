package io.lockkeeper.integration.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.NotAcquiredReason;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every mode beside every mode of its kind, asked for by every sort of asker. */
final class CombinationsIT {

  private final ManagedChannel channel = Rig.shared().connect();

  /** Who asks, beside the owner "holder" of a lease that holds. */
  enum Asker {
    /** The same owner of the same lease. */
    SAME_OWNER,
    /** Another owner of the same lease. */
    OTHER_OWNER,
    /** No owner, in the same lease. */
    NO_OWNER,
    /** The same owner's name in another lease. */
    OTHER_LEASE
  }

  /** What becomes of the request. */
  enum Outcome {
    /** Granted at once with the token of the first, as one more level. */
    ONE_MORE_LEVEL,
    /** Granted at once, as a contender of its own. */
    GRANTED,
    /** Granted at once with the token of the write lock. */
    DOWNGRADES,
    /** Waits, and is granted when the holder has released. */
    WAITS,
    /** Refused at once. */
    WOULD_DEADLOCK
  }

  @ParameterizedTest
  @CsvSource({
    "EXCLUSIVE, EXCLUSIVE, SAME_OWNER,  ONE_MORE_LEVEL",
    "EXCLUSIVE, EXCLUSIVE, OTHER_OWNER, WAITS",
    "EXCLUSIVE, EXCLUSIVE, NO_OWNER,    WAITS",
    "EXCLUSIVE, EXCLUSIVE, OTHER_LEASE, WAITS",
    "READ,      READ,      SAME_OWNER,  ONE_MORE_LEVEL",
    "READ,      READ,      OTHER_OWNER, GRANTED",
    "READ,      READ,      NO_OWNER,    GRANTED",
    "READ,      READ,      OTHER_LEASE, GRANTED",
    "READ,      WRITE,     SAME_OWNER,  WOULD_DEADLOCK",
    "READ,      WRITE,     OTHER_OWNER, WAITS",
    "READ,      WRITE,     NO_OWNER,    WAITS",
    "READ,      WRITE,     OTHER_LEASE, WAITS",
    "WRITE,     READ,      SAME_OWNER,  DOWNGRADES",
    "WRITE,     READ,      OTHER_OWNER, WAITS",
    "WRITE,     READ,      NO_OWNER,    WAITS",
    "WRITE,     READ,      OTHER_LEASE, WAITS",
    "WRITE,     WRITE,     SAME_OWNER,  ONE_MORE_LEVEL",
    "WRITE,     WRITE,     OTHER_OWNER, WAITS",
    "WRITE,     WRITE,     NO_OWNER,    WAITS",
    "WRITE,     WRITE,     OTHER_LEASE, WAITS",
    "PERMITS,   PERMITS,   SAME_OWNER,  GRANTED",
    "PERMITS,   PERMITS,   OTHER_OWNER, GRANTED",
    "PERMITS,   PERMITS,   NO_OWNER,    GRANTED",
    "PERMITS,   PERMITS,   OTHER_LEASE, GRANTED",
  })
  void modeBesideModeIsAsTheTableSays(String held, String asked, Asker asker, Outcome expected) {
    // Given
    String name = "combination/" + held + "-" + asked + "-" + asker;
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant stranger = Tenant.of(channel, "stranger")) {
      holder.ask("first", "holder", lock(name, held));
      long token = holder.awaitGrant("first").getFencingToken();
      Tenant asking = asker == Asker.OTHER_LEASE ? stranger : holder;

      // When
      EventCase first = asking.ask("second", owner(asker), lock(name, asked));

      // Then
      switch (expected) {
        case ONE_MORE_LEVEL -> {
          assertThat(asking.awaitGrant("second").getHoldCount()).isEqualTo(2);
          assertThat(asking.awaitGrant("second").getFencingToken()).isEqualTo(token);
        }
        case GRANTED -> {
          assertThat(asking.awaitGrant("second").getHoldCount()).isEqualTo(1);
          assertThat(asking.awaitGrant("second").getFencingToken()).isGreaterThan(token);
        }
        case DOWNGRADES ->
            assertThat(asking.awaitGrant("second").getFencingToken()).isEqualTo(token);
        case WAITS -> {
          assertThat(first).isEqualTo(EventCase.QUEUED);
          holder.release("first");
          assertThat(asking.awaitGrant("second").getFencingToken()).isGreaterThan(token);
        }
        case WOULD_DEADLOCK ->
            assertThat(asking.awaitNotAcquired("second").getReason())
                .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
      }
    }
  }

  private static String owner(Asker asker) {
    return switch (asker) {
      case SAME_OWNER, OTHER_LEASE -> "holder";
      case OTHER_OWNER -> "another";
      case NO_OWNER -> "";
    };
  }

  private static LockRequest lock(String name, String mode) {
    return mode.equals("PERMITS")
        ? Tenant.permits(name, 1, 2)
        : Tenant.lock(name, LockMode.valueOf("LOCK_MODE_" + mode));
  }
}
