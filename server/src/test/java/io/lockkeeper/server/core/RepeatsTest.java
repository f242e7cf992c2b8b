package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a client finds that comes to another coordinator and repeats what it asked for. */
class RepeatsTest {

  private final Bench bench = Bench.ready();
  private final Inheritance left = new Inheritance(bench);
  private final LeaseId lease = left.lease();

  private List<Notice> repeat(StreamId stream, Wish wish) {
    int before = bench.all(Effect.Tell.class).size();
    bench.on(
        new ClientEvent.Acquire(
            stream, UUID.randomUUID(), lease, wish.command(Optional.of(lease)), true));
    List<Effect.Tell> all = bench.all(Effect.Tell.class);
    return all.subList(before, all.size()).stream().map(Effect.Tell::notice).toList();
  }

  private static List<Long> tokens(Notice notice) {
    return ((Notice.Granted) notice).grants().stream().map(grant -> grant.token().value()).toList();
  }

  @Test
  void heldRequestIsGrantedOnceMoreWithItsTokens() {
    // Given
    Wish wish = Wish.named("held").exclusive("a");
    long token = left.entries(lease, wish).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, wish.holding(token));
    // Then
    assertThat(told).hasSize(1);
    assertThat(tokens(told.get(0))).containsExactly(token);
    assertThat(bench.all(Effect.CreateEntries.class)).isEmpty();
  }

  @Test
  void heldRequestOfWhichNothingIsLeftIsLostAndNeverQueuedAnew() {
    // Given
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, Wish.named("held").exclusive("a").holding(7));
    // Then
    assertThat(told)
        .hasSize(1)
        .first()
        .isInstanceOfSatisfying(
            Notice.Lost.class,
            lost -> assertThat(lost.reason()).isEqualTo(Notice.LossReason.REMOVED));
    assertThat(bench.all(Effect.CreateEntries.class)).isEmpty();
    assertThat(repeat(stream, Wish.named("held").exclusive("a").holding(7))).hasSize(1);
  }

  @Test
  void waitingRequestOfWhichNothingIsLeftIsQueuedAnew() {
    // Given
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    repeat(stream, Wish.named("waits").exclusive("a"));
    // Then
    assertThat(bench.all(Effect.CreateEntries.class)).hasSize(1);
  }

  @Test
  void reentrantHoldComesBackByTheTokenItShared() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("thread-1");
    long token = left.entries(lease, outer).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    repeat(stream, outer.holding(token));
    Wish inner = Wish.named("inner").exclusive("a").by("thread-1").holding(token);
    // When
    List<Notice> told = repeat(stream, inner);
    // Then
    assertThat(tokens(told.get(0))).containsExactly(token);
    assertThat(((Notice.Granted) told.get(0)).grants().get(0).holdCount()).isEqualTo(2);
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, lease, "outer", 0));
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    assertThat(bench.all(Effect.DeleteEntries.class)).isEmpty();
  }

  @Test
  void reentrantHoldComesBackAlsoBeforeTheMirrorIsWhole() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("thread-1");
    long token = left.entries(lease, outer).get(0);
    bench.on(new StoreEvent.MirrorStale());
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told =
        repeat(stream, Wish.named("inner").exclusive("a").by("thread-1").holding(token));
    // Then: neither lost nor granted yet
    assertThat(told).isEmpty();
    assertThat(bench.all(Effect.CreateEntries.class)).isEmpty();
  }

  @Test
  void holdThatMayHaveBeenReleasedElsewhereIsNotSharedByANewRequest() {
    // Given
    left.entries(lease, Wish.named("outer").exclusive("a").by("thread-1"));
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, Wish.named("new").exclusive("a").by("thread-1"));
    // Then
    assertThat(told).isEmpty();
    assertThat(bench.refusals(stream)).containsExactly(Failure.Kind.UNAVAILABLE);
  }

  @Test
  void partOfARequestIsNotTakenForTheWhole() {
    // Given
    Wish whole = Wish.named("both").exclusive("a", "b").by("thread-1");
    StoreEvent.CreatedEntry own =
        bench.foreign("b", new UUID(lease.high(), 77), MutexKind.EXCLUSIVE);
    left.add(
        own, Inheritance.details(lease, whole.command(Optional.of(lease)), false), Duration.ZERO);
    left.take();
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.all(Effect.Tell.class)).isEmpty();
  }

  @Test
  void coordinatorThatMayBeDeposedDoesNotSayThatNothingIsLeft() {
    // Given
    LeaseId own = bench.lease();
    StreamId stream = bench.attach(own);
    bench.proving = false;
    // When
    bench.on(
        new ClientEvent.Acquire(
            stream,
            UUID.randomUUID(),
            own,
            Wish.named("elsewhere").exclusive("a").holding(9).command(Optional.of(own)),
            true));
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, own, "elsewhere", 0));
    bench.on(new SessionEvent.SessionEnded(Bench.S1, true));
    // Then
    assertThat(bench.all(Effect.Tell.class)).isEmpty();
    assertThat(bench.failure(release)).isEqualTo(Failure.Kind.MOVED);
  }

  @Test
  void sharedHoldOfAnotherOwnerIsNotTaken() {
    // Given
    long token = left.entries(lease, Wish.named("outer").exclusive("a").by("thread-1")).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told =
        repeat(stream, Wish.named("inner").exclusive("a").by("thread-2").holding(token));
    // Then
    assertThat(told).hasSize(1).first().isInstanceOf(Notice.Lost.class);
  }

  @Test
  void requestForSeveralLocksIsWholeAgainInItsOwnOrder() {
    // Given: the entries come back in another order
    Wish stored = Wish.named("held").exclusive("b", "a");
    List<Long> tokens = left.entries(lease, stored);
    left.take();
    StreamId stream = bench.attach(lease);
    Wish asked = Wish.named("held").exclusive("a", "b").holding(tokens.get(1), tokens.get(0));
    // When
    List<Notice> told = repeat(stream, asked);
    // Then
    assertThat(told).hasSize(1);
    assertThat(((Notice.Granted) told.get(0)).grants())
        .extracting(grant -> grant.lock().value())
        .containsExactly("a", "b");
    assertThat(tokens(told.get(0))).containsExactly(tokens.get(1), tokens.get(0));
  }

  @Test
  void severalLocksAreNotToldInAnOrderThatIsNotTheirRequests() {
    // Given
    left.entries(lease, Wish.named("held").exclusive("b", "a"));
    left.take();
    // When
    bench.attach(lease);
    // Then: the repeated request is answered
    assertThat(bench.all(Effect.Tell.class)).isEmpty();
  }

  @Test
  void endingOfARequestThatWasKnownByItsEntriesIsToldToWhoRepeatsIt() {
    // Given: a part of it was removed, the rest is not in the order of the request
    Wish asked = Wish.named("held").exclusive("a", "b");
    EntryDetails details = Inheritance.details(lease, asked.command(Optional.of(lease)), false);
    UUID id = new UUID(lease.high(), 77);
    StoreEvent.CreatedEntry second = bench.foreign("b", id, MutexKind.EXCLUSIVE);
    StoreEvent.CreatedEntry first = bench.foreign("a", id, MutexKind.EXCLUSIVE);
    long tokenOfSecond = left.add(second, details, Duration.ZERO);
    long tokenOfFirst = left.add(first, details, Duration.ZERO);
    left.take();
    StreamId stream = bench.attach(lease);
    bench.vanish(first);
    // When
    List<Notice> told = repeat(stream, asked.holding(tokenOfFirst, tokenOfSecond));
    // Then
    assertThat(bench.refusals(stream)).isEmpty();
    assertThat(told).hasSize(1).first().isInstanceOf(Notice.Lost.class);
  }

  @Test
  void holderThatComesBackIsNotToldThatTheLimitIsTooSmallByNow() {
    // Given: the limit shrank after it was granted, and the mirror never saw it hold
    MarkerName limit =
        MarkerName.parse(MarkerName.Limit.prefix(2) + EntryName.suffix(0)).orElseThrow();
    bench.on(new StoreEvent.MarkerAppeared(new LockName("a"), limit, bench.zxid()));
    List<Long> tokens = left.entries(lease, Wish.named("held").permits("a", 3, 4));
    left.take(true);
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told =
        repeat(stream, Wish.named("held").permits("a", 3, 4).holding(tokens.get(0)));
    // Then
    assertThat(told).hasSize(1);
    assertThat(tokens(told.get(0))).isEqualTo(tokens);
  }

  @Test
  void requestThatSharedSomeOfItsLocksIsWholeAgain() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("thread-1");
    long shared = left.entries(lease, outer).get(0);
    Wish whole = Wish.named("both").exclusive("a", "b").by("thread-1");
    AcquireCommand command = whole.command(Optional.of(lease));
    StoreEvent.CreatedEntry own =
        bench.foreign("b", new UUID(lease.high(), 77), MutexKind.EXCLUSIVE);
    long fresh = left.add(own, Inheritance.details(lease, command, false), Duration.ZERO);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    repeat(stream, whole.holding(shared, fresh));
    // Then: releasing the outer one keeps the lock
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, lease, "outer", 0));
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
  }

  @Test
  void requestWhoseSharedPartIsGoneIsLost() {
    // Given
    Wish whole = Wish.named("both").exclusive("a", "b").by("thread-1");
    AcquireCommand command = whole.command(Optional.of(lease));
    StoreEvent.CreatedEntry own =
        bench.foreign("b", new UUID(lease.high(), 77), MutexKind.EXCLUSIVE);
    long fresh = left.add(own, Inheritance.details(lease, command, false), Duration.ZERO);
    left.take();
    StreamId stream = bench.attach(lease);
    assertThat(repeat(stream, whole.holding(5, fresh))).isEmpty();
    assertThat(bench.refusals(stream)).containsExactly(Failure.Kind.UNAVAILABLE);
    assertThat(bench.all(Effect.DeleteEntries.class)).isEmpty();
    bench.pass(Bench.TIMEOUT.minusSeconds(1));
    bench.on(new ClientEvent.KeepAlive(bench.call(), lease));
    bench.pass(Duration.ofSeconds(1));
    // When: nobody has come for what it shared
    List<Notice> told = repeat(stream, whole.holding(5, fresh));
    // Then
    assertThat(told).last().isInstanceOf(Notice.Lost.class);
    assertThat(bench.all(Effect.DeleteEntries.class)).hasSize(1);
  }

  @Test
  void clientThatKnowsItsTokenWasGrantedAheadOfAReleaseAndHolds() {
    // Given: the one ahead had released, and its deletion was never committed
    LeaseId releasing = left.lease();
    left.entries(releasing, Wish.named("first").exclusive("a"));
    Wish next = Wish.named("next").exclusive("a");
    long token = left.entries(lease, next).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, next.holding(token));
    // Then
    assertThat(tokens(told.get(told.size() - 1))).containsExactly(token);
    // And: the release comes again, and grants nothing twice
    bench.on(new ClientEvent.Release(bench.call(), releasing, "first", 0));
    assertThat(bench.last(Effect.Tell.class)).noneMatch(tell -> tell.requestId().equals("next"));
  }

  @Test
  void wrongTokenIsNoProofOfAGrant() {
    // Given
    left.entries(left.lease(), Wish.named("first").exclusive("a"));
    Wish next = Wish.named("next").exclusive("a");
    long token = left.entries(lease, next).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, next.holding(token + 1));
    // Then
    assertThat(told).hasSize(1).first().isInstanceOf(Notice.Queued.class);
  }

  @Test
  void entryThatWasWrittenOverIsFoundByItsToken() {
    // Given
    StoreEvent.CreatedEntry entry =
        bench.foreign("a", new UUID(lease.high(), 9), MutexKind.EXCLUSIVE);
    long token =
        left.add(entry, EntryDetails.foreign("__REVOKE__", Optional.empty()), Duration.ZERO);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, Wish.named("held").exclusive("a").holding(token));
    // Then
    assertThat(tokens(told.get(told.size() - 1))).containsExactly(token);
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, lease, "held", token));
    bench.on(new StoreEvent.EntriesDeleted(bench.all(Effect.DeleteEntries.class).get(0).id()));
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.RELEASED, 0));
  }

  @Test
  void otherLocksUnderTheSameNameAreRefused() {
    // Given
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    repeat(stream, Wish.named("held").exclusive("b"));
    // Then
    assertThat(bench.refusals(stream)).containsExactly(Failure.Kind.REQUEST_ID_IN_USE);
  }

  @Test
  void limitThatWasLeftToTheLockIsTheSameRequest() {
    // Given
    long token = left.entries(lease, Wish.named("some").permits("p", 2, 5)).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told =
        repeat(
            stream, Wish.named("some").permits("p", 2, PermitsKind.AS_CONFIGURED).holding(token));
    // Then
    assertThat(tokens(told.get(0))).containsExactly(token);
  }

  @Test
  void nameInTheEntryIsThatOfSomebodyWhoStillHoldsIt() {
    // Given: an owner who holds twice on this coordinator, and lets go of the first
    LeaseId own = bench.lease();
    Bench.Asked outer = bench.askAndCreate(own, Wish.named("outer").exclusive("x").by("t"));
    bench.ask(own, Wish.named("inner").exclusive("x").by("t"));
    // When
    bench.release(outer);
    // Then
    assertThat(bench.last(Effect.Amend.class))
        .hasSize(1)
        .first()
        .satisfies(
            amend ->
                assertThat(((Amendment.Describe) amend.amendment()).details().requestId())
                    .isEqualTo("inner"));
  }

  @Test
  void metadataOfAnAdoptedHoldCanBeChanged() {
    // Given
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.UpdateMetadata(call, lease, "held", Map.of("k", "v")));
    // Then
    assertThat(bench.last(Effect.Amend.class)).hasSize(1);
  }

  @Test
  void nameOfARequestThatWasReleasedBeforeDoesNotKeepTheLock() {
    // Given: the outer request was released, and the entry still bears its name
    long token = left.entries(lease, Wish.named("outer").exclusive("a").by("t")).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    repeat(stream, Wish.named("inner").exclusive("a").by("t").holding(token));
    // When
    bench.on(new ClientEvent.Release(bench.call(), lease, "inner", 0));
    // Then
    assertThat(bench.all(Effect.DeleteEntries.class)).hasSize(1);
  }
}
