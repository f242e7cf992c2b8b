package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Quota;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.server.core.state.AccountsCheck;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How much an account and a lease may have. */
class AccountsTest {

  private static final int LEASE_BYTES = 1_000;
  private static final int ALL_BYTES = 2_500;

  private final Bench bench =
      Bench.ready(
          new CoreSettings(
              Duration.ofSeconds(2),
              10_000,
              100_000,
              512 << 10,
              64,
              LEASE_BYTES,
              ALL_BYTES,
              1_000_000,
              64L << 20,
              Duration.ofSeconds(5),
              true,
              Duration.ofSeconds(6)));

  private int numbers;

  @AfterEach
  void everythingIsCountedThatStands() {
    AccountsCheck.check(bench.kernel.core);
  }

  private LeaseId lease(Caller by, String holder) {
    LeaseId lease = new LeaseId((long) ++numbers << 32, numbers);
    bench.on(
        new ClientRequest(
            by, new ClientEvent.OpenLease(bench.call(), lease, "hash", Bench.TTL, holder)));
    bench.on(new StoreEvent.LeaseRecorded(Bench.S1, lease));
    return lease;
  }

  private Asked acquire(Caller by, LeaseId lease, String name, Map<String, String> metadata) {
    // Without a holder of its own: whom the lease names counts.
    AcquireCommand command =
        Wish.named(name)
            .exclusive(name)
            .command(Optional.of(lease))
            .withoutDescription()
            .describedBy(metadata);
    UUID id = new UUID(lease.high(), ++numbers);
    StreamId stream = bench.stream();
    bench.on(new ClientRequest(by, new ClientEvent.Acquire(stream, id, lease, command, false)));
    return new Asked(stream, id, lease, name, new LockName(name));
  }

  private List<Failure.Reason> refusals(Asked asked) {
    return bench.refusals(asked.stream());
  }

  private static Caller from(String address, int acquisitions) {
    Quota quota =
        new Quota() {
          @Override
          public int leases() {
            return 10;
          }

          @Override
          public int acquisitions() {
            return acquisitions;
          }

          @Override
          public long entryBytes() {
            return Long.MAX_VALUE;
          }

          @Override
          public long pathBytes() {
            return Long.MAX_VALUE;
          }

          @Override
          public int queuePlaces() {
            return Integer.MAX_VALUE;
          }

          @Override
          public int freezes() {
            return Integer.MAX_VALUE;
          }

          @Override
          public int acquisitionsIn(String namespace) {
            return Integer.MAX_VALUE;
          }
        };
    return new Caller("", false, address, quota);
  }

  @Test
  void whoUsesALeaseFromElsewhereHasWhatItsAccountHas() {
    // Given: a lease that is nobody's, opened from one address
    LeaseId lease = lease(from("one", 1), "me");
    acquire(from("one", 1), lease, "a", Map.of());
    // When
    Asked more = acquire(from("two", 1), lease, "b", Map.of());
    // Then
    assertThat(refusals(more)).containsExactly(Failure.Reason.TOO_MANY);
  }

  @Test
  void whatMustBeEscapedInARecordCountsAsItIsWritten() {
    // Given
    LeaseId lease = lease(Caller.ANYBODY, "");
    // When
    Asked plain = acquire(Caller.ANYBODY, lease, "a", Map.of("k", "x".repeat(200)));
    Asked escaped = acquire(Caller.ANYBODY, lease, "b", Map.of("k", "\u0001".repeat(200)));
    // Then
    assertThat(refusals(plain)).isEmpty();
    assertThat(refusals(escaped)).containsExactly(Failure.Reason.LEASE_FULL);
  }

  @Test
  void whoTheLeaseSaysThatItIsCountsInEachOfItsEntries() {
    // Given
    LeaseId lease = lease(Caller.ANYBODY, "h".repeat(400));
    // When
    Asked first = acquire(Caller.ANYBODY, lease, "a", Map.of());
    Asked second = acquire(Caller.ANYBODY, lease, "b", Map.of());
    // Then
    assertThat(refusals(first)).isEmpty();
    assertThat(refusals(second)).containsExactly(Failure.Reason.LEASE_FULL);
  }

  @Test
  void entriesOfAllLeasesTogetherAreLimitedAndWhatIsReleasedMakesRoom() {
    // Given: three leases, none of which is full
    Map<String, String> most = Map.of("k", "x".repeat(700));
    Asked first = acquire(from("one", 9), lease(from("one", 9), ""), "a", most);
    acquire(from("two", 9), lease(from("two", 9), ""), "b", most);
    LeaseId third = lease(from("three", 9), "");
    // When
    Asked beyond = acquire(from("three", 9), third, "c", most);
    Asked small = acquire(from("three", 9), third, "d", Map.of());
    // Then
    assertThat(refusals(beyond)).containsExactly(Failure.Reason.TOO_MANY);
    assertThat(refusals(small)).isEmpty();
    bench.create(first);
    bench.release(first);
    bench.deleted(first);
    assertThat(refusals(acquire(from("three", 9), third, "e", Map.of("k", "x".repeat(500)))))
        .isEmpty();
  }
}
