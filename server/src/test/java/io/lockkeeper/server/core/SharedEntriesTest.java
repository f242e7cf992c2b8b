package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Entries that outlive the acquisition that they were created for, at another coordinator. */
class SharedEntriesTest {

  private final Bench bench = Bench.ready();
  private final Inheritance left = new Inheritance(bench);
  private final LeaseId lease = left.lease();

  private void repeat(StreamId stream, LeaseId of, Wish wish) {
    bench.on(
        new ClientEvent.Acquire(
            stream, UUID.randomUUID(), of, wish.command(Optional.of(of)), true));
  }

  private List<Notice> told(String requestId) {
    return bench.all(Effect.Tell.class).stream()
        .filter(tell -> tell.requestId().equals(requestId))
        .map(Effect.Tell::notice)
        .toList();
  }

  @Test
  void entriesOfOneCreationThatSeveralAcquisitionsHoldByNowAreAllDeleted() {
    // Given: both were created for one request, of which each has an heir
    UUID creator = new UUID(lease.high(), 77);
    for (String name : List.of("a", "b")) {
      AcquireCommand heir =
          Wish.named("heir-of-" + name).exclusive(name).command(Optional.of(lease));
      left.add(
          bench.foreign(name, creator, MutexKind.EXCLUSIVE),
          Inheritance.details(lease, heir, false),
          Duration.ZERO);
    }
    left.take();
    // When
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    List<Effect.DeleteEntries> deletions = bench.all(Effect.DeleteEntries.class);
    deletions.forEach(deletion -> bench.on(new StoreEvent.EntriesDeleted(deletion.id())));
    bench.on(new StoreEvent.LeaseErased(lease));
    // Then
    assertThat(deletions).hasSize(2).extracting(Effect.DeleteEntries::id).doesNotHaveDuplicates();
    assertThat(bench.kernel.counts(bench.now).acquisitions()).isZero();
    assertThat(bench.kernel.counts(bench.now).leases()).isZero();
  }

  @Test
  void entryThatAnHeirDescribesKeepsTheLockDelayOfItsGuard() {
    // Given
    Duration delay = Duration.ofSeconds(2);
    LeaseId own = bench.lease();
    Bench.Asked outer =
        bench.askAndCreate(own, Wish.named("outer").exclusive("x").by("t").delaying(delay));
    bench.ask(own, Wish.named("inner").exclusive("x").by("t"));
    // When
    bench.release(outer);
    // Then
    assertThat(bench.last(Effect.Amend.class)).hasSize(1);
    Amendment.Describe described =
        (Amendment.Describe) bench.last(Effect.Amend.class).get(0).amendment();
    assertThat(described.details().requestId()).isEqualTo("inner");
    assertThat(described.details().terms().lockDelay()).isEqualTo(delay);
  }

  @Test
  void whoSharesWhatItsOwnerHoldsIsNotTimedOutWhileTheSessionIsInDoubt() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    long token = left.entries(lease, outer).get(0);
    SessionKey session = left.take();
    StreamId stream = bench.attach(lease);
    repeat(stream, lease, outer.holding(token));
    bench.proving = false;
    bench.on(new SessionEvent.SessionSuspended(session));
    Wish inner = Wish.named("inner").exclusive("a").by("t").waiting(Duration.ofSeconds(1));
    repeat(stream, lease, inner.holding(token));
    // When
    bench.pass(Duration.ofSeconds(2));
    // Then
    assertThat(told("inner")).isEmpty();
    bench.on(new SessionEvent.SessionProved(session, bench.now));
    assertThat(told("inner")).first().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void whoTimedOutHereAndHoldsElsewhereIsNotToldThatItIsLostWithoutAProof() {
    // Given: the coordinator does not know yet that another has the session
    LeaseId own = bench.lease();
    StreamId stream = bench.attach(own);
    bench.askAndCreate(bench.lease(), Wish.named("holder").exclusive("x"));
    Wish wish = Wish.named("waits").exclusive("x").waiting(Duration.ofSeconds(1));
    bench.createAll(bench.ask(own, wish));
    bench.pass(Duration.ofSeconds(1));
    int told = told("waits").size();
    bench.proving = false;
    // When
    repeat(stream, own, wish.holding(9));
    // Then
    assertThat(told("waits")).hasSize(told).last().isInstanceOf(Notice.NotAcquired.class);
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now));
    assertThat(told("waits")).last().isInstanceOf(Notice.Lost.class);
  }

  @Test
  void whoSharesOneOfSeveralEntriesOfItsOwnerFindsItByItsToken() {
    // Given: an owner who reads twice, by entries of its own
    Wish first = Wish.named("first").read("a").by("t");
    Wish second = Wish.named("second").read("a").by("t");
    left.entries(lease, first);
    long token = left.entries(lease, second).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    repeat(stream, lease, Wish.named("shares").read("a").by("t").holding(token));
    // Then
    assertThat(told("shares")).hasSize(1).first().isInstanceOf(Notice.Granted.class);
  }
}
