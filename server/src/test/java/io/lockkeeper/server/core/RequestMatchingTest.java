package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a client finds that comes to another coordinator and repeats what it asked for. */
class RequestMatchingTest {

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
    assertThat(bench.all(StoreEffect.CreateEntries.class)).isEmpty();
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
    assertThat(bench.all(StoreEffect.CreateEntries.class)).isEmpty();
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
    assertThat(bench.all(StoreEffect.CreateEntries.class)).hasSize(1);
  }

  @Test
  void levelThatNoEntryTellsOfComesBackByItsTokenBesideWhatItsOwnerHolds() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("thread-1");
    long token = left.entries(lease, outer).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    repeat(stream, outer.holding(token));
    // When
    Asked inner =
        bench.repeat(
            stream, lease, Wish.named("inner").exclusive("a").by("thread-1").holding(token));
    bench.createAll(inner);
    // Then
    Notice.Granted granted = bench.granted(inner);
    assertThat(tokens(granted)).containsExactly(token);
    assertThat(granted.grants().get(0).holdCount()).isEqualTo(2);
    assertThat(bench.planned(inner).entries().get(0).beside())
        .contains(new PlannedEntry.Beside(entry("outer").name(), new FencingToken(token)));
    // And it is a level like any other
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, lease, "outer", 0));
    StoreEffect.DeleteEntries deletion = bench.last(StoreEffect.DeleteEntries.class).get(0);
    assertThat(deletion.entries()).containsExactly(Bench.ref(entry("outer")));
    bench.on(new StoreEvent.EntriesDeleted(deletion.id()));
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
  }

  private StoreEvent.CreatedEntry entry(String requestId) {
    return left.created("a", requestId);
  }

  @Test
  void levelComesBackByItsTokenAlsoBeforeTheMirrorIsWhole() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("thread-1");
    long token = left.entries(lease, outer).get(0);
    bench.on(new StoreEvent.MirrorStale());
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    Asked inner =
        bench.repeat(
            stream, lease, Wish.named("inner").exclusive("a").by("thread-1").holding(token));
    // Then: ZooKeeper tells whether it still holds
    assertThat(bench.told(inner)).isEmpty();
    assertThat(bench.planned(inner).entries().get(0).beside()).isPresent();
    bench.on(new StoreEvent.EntriesRefused(inner.id(), "what it goes on from is gone"));
    assertThat(bench.told(inner, Notice.Lost.class)).isEmpty();
    bench.on(new StoreEvent.RebuildStarted(Set.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    bench.pass(Duration.ofSeconds(1));
    bench.on(new StoreEvent.EntriesRefused(inner.id(), "what it goes on from is gone"));
    // The first was under way; who asked meanwhile shares the next.
    left.passBarriers();
    left.passBarriers();
    assertThat(bench.told(inner)).last().isInstanceOf(Notice.Lost.class);
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
    assertThat(bench.refusals(stream)).containsExactly(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void requestOfWhichAPartIsGoneIsEndedAndTheRestStaysWhileItMayBeReliedOnElsewhere() {
    // Given
    Wish whole = Wish.named("both").exclusive("a", "b").by("thread-1");
    left.entries(lease, whole);
    left.remove("a", "both");
    left.take();
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.all(Effect.Tell.class))
        .extracting(Effect.Tell::notice)
        .hasSize(1)
        .first()
        .isInstanceOfSatisfying(
            Notice.NotAcquired.class,
            ending -> assertThat(ending.reason()).isEqualTo(Notice.RefusalReason.REMOVED));
    keepAliveFor(Bench.TIMEOUT.minusNanos(1));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    bench.pass(Duration.ofNanos(1));
    assertThat(bench.all(StoreEffect.DeleteEntries.class).get(0).entries())
        .containsExactly(Bench.ref(left.created("b", "both")));
  }

  private void keepAliveFor(Duration time) {
    long end = bench.now + time.toNanos();
    while (bench.now < end) {
      bench.on(new ClientEvent.KeepAlive(bench.call(), lease));
      bench.pass(Duration.ofNanos(Math.min(Bench.TTL.toNanos() / 2, end - bench.now)));
    }
    bench.on(new ClientEvent.KeepAlive(bench.call(), lease));
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
    assertThat(bench.failure(release)).isEqualTo(Failure.Reason.MOVED);
  }

  @Test
  void coordinatorThatMayBeDeposedDoesNotRepeatThatARequestHasEnded() {
    // Given: another coordinator may have queued or granted the same requests again
    LeaseId own = bench.lease();
    StreamId stream = bench.attach(own);
    Asked held = bench.acquireInSession(stream, own, "r", "a");
    bench.create(held);
    bench.release(held);
    bench.deleted(held);
    bench.takenElsewhere("b");
    Wish attempt = Wish.named("try").exclusive("b").waiting(Duration.ZERO);
    bench.createAll(bench.repeat(stream, own, attempt));
    assertThat(bench.told("try")).hasSize(1);
    bench.proving = false;
    // When
    CallId again = bench.release(held);
    bench.repeat(stream, own, attempt);
    bench.on(new SessionEvent.SessionEnded(Bench.S1, true));
    // Then
    assertThat(bench.failure(again)).isEqualTo(Failure.Reason.MOVED);
    assertThat(bench.told("try")).hasSize(1);
    assertThat(bench.refusals(stream)).containsExactly(Failure.Reason.MOVED);
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
    // Given
    Wish wish = Wish.named("held").exclusive("b", "a");
    List<Long> tokens = left.entries(lease, wish);
    left.listBackwards();
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, wish.holding(tokens.get(0), tokens.get(1)));
    // Then
    assertThat(told).hasSize(1);
    assertThat(((Notice.Granted) told.get(0)).grants())
        .extracting(grant -> grant.lock().value())
        .containsExactly("b", "a");
    assertThat(tokens(told.get(0))).isEqualTo(tokens);
  }

  @Test
  void severalLocksAreToldInTheOrderOfTheirRequestAlsoBeforeItIsRepeated() {
    // Given
    left.entries(lease, Wish.named("held").exclusive("b", "a"));
    left.listBackwards();
    left.take();
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.all(Effect.Tell.class)).hasSize(1);
    assertThat(((Notice.Granted) bench.all(Effect.Tell.class).get(0).notice()).grants())
        .extracting(grant -> grant.lock().value())
        .containsExactly("b", "a");
  }

  @Test
  void endingOfARequestThatWasKnownByItsEntriesIsToldToWhoRepeatsIt() {
    // Given: a part of it is removed
    Wish asked = Wish.named("held").exclusive("a", "b");
    List<Long> tokens = left.entries(lease, asked);
    left.take();
    StreamId stream = bench.attach(lease);
    bench.vanish(left.created("a", "held"));
    // When
    List<Notice> told = repeat(stream, asked.holding(tokens.get(0), tokens.get(1)));
    // Then
    assertThat(bench.refusals(stream)).isEmpty();
    assertThat(told).hasSize(1).first().isInstanceOf(Notice.Lost.class);
  }

  @Test
  void holderThatComesBackIsNotToldThatTheLimitIsTooSmallByNow() {
    // Given: the limit shrank after it was granted, and the mirror never saw it hold
    MarkerName limit =
        MarkerName.parse(MarkerName.Limit.prefix(2, AccountTag.NOBODY) + EntryName.suffix(0))
            .orElseThrow();
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
  void requestThatHasOneOfItsLocksOnceMoreIsWholeAgain() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("thread-1");
    Wish whole = Wish.named("both").exclusive("a", "b").by("thread-1");
    long token = left.entries(lease, outer).get(0);
    List<Long> tokens = left.level(lease, whole, outer);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, whole.holding(tokens.get(0), tokens.get(1)));
    // Then
    assertThat(tokens(told.get(0))).isEqualTo(tokens).contains(token);
    assertThat(bench.all(StoreEffect.CreateEntries.class)).isEmpty();
    // And the release of the outer one keeps the lock
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, lease, "outer", 0));
    StoreEffect.DeleteEntries deletion = bench.last(StoreEffect.DeleteEntries.class).get(0);
    bench.on(new StoreEvent.EntriesDeleted(deletion.id()));
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
    assertThat(deletion.entries()).containsExactly(Bench.ref(entry("outer")));
  }

  @Test
  void holderOfARequestOfWhichAPartIsGoneIsToldThatItIsLost() {
    // Given
    Wish whole = Wish.named("both").exclusive("a", "b").by("thread-1");
    List<Long> tokens = left.entries(lease, whole);
    left.remove("a", "both");
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    List<Notice> told = repeat(stream, whole.holding(tokens.get(0), tokens.get(1)));
    // Then
    assertThat(bench.refusals(stream)).isEmpty();
    assertThat(told).hasSize(1).first().isInstanceOf(Notice.Lost.class);
    assertThat(bench.all(StoreEffect.CreateEntries.class)).isEmpty();
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
    repeat(stream, next.holding(token));
    assertThat(bench.told("next", Notice.Granted.class)).isEmpty();
    // When: the release comes again
    bench.on(new ClientEvent.Release(bench.call(), releasing, "first", 0));
    // Then
    assertThat(tokens(bench.told("next", Notice.Granted.class).get(0))).containsExactly(token);
  }

  @Test
  void waiterThatNamesItsTokenIsNeverGrantedWhatAnotherClientHolds() {
    // Given: anybody can compute the token of an entry
    Wish first = Wish.named("first").exclusive("a");
    left.entries(lease, first);
    Wish next = Wish.named("next").exclusive("a").waiting(Duration.ofHours(1));
    long token = left.entries(lease, next).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    repeat(stream, first);
    // When
    repeat(stream, next.holding(token));
    bench.keepAliveFor(lease, Bench.TIMEOUT);
    // Then
    assertThat(bench.told("next", Notice.Granted.class)).isEmpty();
    assertThat(bench.told("next")).last().isInstanceOf(Notice.Lost.class);
    assertThat(bench.told("first")).hasOnlyElementsOfType(Notice.Granted.class);
  }

  @Test
  void tokensOfAWaiterDoNotChangeItsWaitTimeoutWithoutATakeover() {
    // Given
    LeaseId own = bench.lease();
    StreamId stream = bench.attach(own);
    bench.askAndCreate(bench.lease(), Wish.named("holder").exclusive("x"));
    Wish waits = Wish.named("waits").exclusive("x").waiting(Duration.ofSeconds(1));
    Asked asked = bench.ask(own, waits);
    StoreEvent.CreatedEntry entry = bench.createAll(asked).get(0);
    // When
    long token = FencingToken.of(entry.czxid(), entry.index()).value();
    bench.repeat(stream, own, waits.waiting(Duration.ofDays(7)).holding(token));
    bench.pass(Duration.ofSeconds(1));
    // Then
    assertThat(bench.ending(asked).reason()).isEqualTo(Notice.RefusalReason.TIMED_OUT);
  }

  @Test
  void waitTimeoutOfARequestWithTokensIsNotTaken() {
    // Given: the policy's limit of a wait is not checked for a request with tokens
    LeaseId holder = left.lease();
    left.entries(holder, Wish.named("first").exclusive("a"));
    Wish next = Wish.named("next").exclusive("a").waiting(Duration.ofSeconds(1));
    long token = left.entries(lease, next).get(0);
    left.take(true);
    bench.attach(holder);
    // When
    repeat(bench.attach(lease), next.waiting(Duration.ofDays(7)).holding(token + 1));
    bench.pass(Duration.ofSeconds(1));
    // Then
    assertThat(bench.told("next")).last().isInstanceOf(Notice.NotAcquired.class);
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
  void wrongTokenDoesNotMakeALossOfATimeoutThatIsNotCertainYet() {
    // Given
    LeaseId lease = bench.lease();
    bench.alone(Wish.named("held").exclusive("a"));
    Wish wish = Wish.named("waits").exclusive("a").waiting(Duration.ofSeconds(3));
    Asked waiting = bench.askAndCreate(lease, wish);
    bench.deleting = false;
    bench.pass(Duration.ofSeconds(3));
    // When
    bench.repeat(bench.attach(lease), lease, wish.holding(1));
    bench.deleteAll(waiting);
    // Then
    assertThat(bench.told(waiting, Notice.Lost.class)).isEmpty();
    assertThat(bench.ending(waiting).reason()).isEqualTo(Notice.RefusalReason.TIMED_OUT);
  }

  @Test
  void entryThatWasWrittenOverIsFoundByItsToken() {
    // Given
    StoreEvent.CreatedEntry nameless =
        bench.foreign("a", new UUID(lease.high(), 9), MutexKind.EXCLUSIVE);
    long token = left.add(nameless, EntryDetails.foreign("__REVOKE__", Optional.empty()));
    left.take();
    StreamId stream = bench.attach(lease);
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When
    Asked held = bench.repeat(stream, lease, Wish.named("held").exclusive("a").holding(token));
    bench.createAll(held);
    // Then: an entry that says whose it is takes the place of the other
    assertThat(tokens(bench.granted(held))).containsExactly(token);
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .flatExtracting(StoreEffect.DeleteEntries::entries)
        .containsExactly(Bench.ref(nameless));
    bench.on(new StoreEvent.EntriesDeleted(bench.all(StoreEffect.DeleteEntries.class).get(0).id()));
    bench.vanish(nameless);
    assertThat(bench.wasGranted(waiter)).isFalse();
    CallId release = bench.release(held);
    bench.deleteAll(held);
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.RELEASED, 0));
    assertThat(bench.wasGranted(waiter)).isTrue();
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
    assertThat(bench.refusals(stream)).containsExactly(Failure.Reason.REQUEST_ID_IN_USE);
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
  void metadataOfAnAdoptedHoldCanBeChanged() {
    // Given
    left.entries(lease, Wish.named("held").exclusive("a"));
    left.take();
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.UpdateMetadata(call, lease, "held", Map.of("k", "v")));
    // Then
    assertThat(bench.last(StoreEffect.UpdateEntry.class)).hasSize(1);
  }

  @Test
  void whatWasReleasedAtTheCoordinatorBeforeIsNotKeptForItsClient() {
    // Given: the outer request was released there, and the entry of the inner one is left
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Wish inner = Wish.named("inner").exclusive("a").by("t");
    left.entries(lease, outer);
    long token = left.level(lease, inner, outer).get(0);
    left.remove("a", "outer");
    left.take();
    StreamId stream = bench.attach(lease);
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    List<Notice> told = repeat(stream, inner.holding(token));
    // When
    CallId again = bench.call();
    bench.on(new ClientEvent.Release(again, lease, "outer", 0));
    bench.on(new ClientEvent.Release(bench.call(), lease, "inner", 0));
    // Then
    assertThat(((Notice.Granted) told.get(0)).grants().get(0).holdCount()).isEqualTo(1);
    assertThat(bench.answer(again))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.ALREADY_RELEASED, 0));
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).hasSize(1);
    assertThat(bench.wasGranted(waiter)).isTrue();
  }

  @Test
  void releaseOfALevelOfAnotherCoordinatorIsAnsweredWhenItsEntryIsGone() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Wish inner = Wish.named("inner").exclusive("a").by("t");
    left.entries(lease, outer);
    left.level(lease, inner, outer);
    left.take();
    bench.attach(lease);
    // When
    CallId release = bench.call();
    bench.on(new ClientEvent.Release(release, lease, "inner", 0));
    // Then
    assertThat(bench.answers(release)).isEmpty();
    StoreEffect.DeleteEntries deletion = bench.last(StoreEffect.DeleteEntries.class).get(0);
    assertThat(deletion.entries()).containsExactly(Bench.ref(entry("inner")));
    bench.on(new StoreEvent.EntriesDeleted(deletion.id()));
    assertThat(bench.answer(release))
        .isEqualTo(new Answer.ReleaseDone(Answer.ReleaseOutcome.DECREMENTED, 1));
  }
}
