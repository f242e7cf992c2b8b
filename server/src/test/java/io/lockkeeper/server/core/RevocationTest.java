package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Holders who are asked to give way, and those who are made to. */
class RevocationTest {

  private static final LockName A = new LockName("a");
  private static final UUID STRANGER = new UUID(0x7777, 1);
  private final Bench bench = Bench.ready();

  private static RevocationRequest wish(String id, Optional<Duration> deadline, boolean force) {
    return new RevocationRequest(id, "ops", "maintenance", deadline, force);
  }

  private CallId request() {
    CallId call = bench.call();
    bench.on(
        new ClientEvent.RequestRelease(
            call, A, wish("q1", Optional.of(Duration.ofSeconds(30)), false)));
    return call;
  }

  private CallId force(long token, Optional<Duration> grace) {
    CallId call = bench.call();
    bench.on(new ClientEvent.ForceRelease(call, A, token, wish("f1", grace, true)));
    return call;
  }

  private static EntryDetails peers(Optional<RevocationRequest> ask) {
    return new EntryDetails("77", "r", "", "peer", Map.of(), false, false, Optional.empty(), ask);
  }

  private void read(StoreEvent.CreatedEntry entry, EntryDetails details) {
    StoreEvent.ReadEntry read =
        new StoreEvent.ReadEntry(details, entry.czxid(), 0, Optional.empty());
    bench.on(new StoreEvent.DetailsRead(A, entry.name().text(), Optional.of(read)));
  }

  private void answerUpdates(EntryUpdate.Outcome outcome) {
    bench
        .last(StoreEffect.UpdateEntry.class)
        .forEach(update -> bench.on(new UpdateEvent.EntryUpdateAnswered(update.number(), outcome)));
  }

  private List<EntryUpdate> updates() {
    return bench.last(StoreEffect.UpdateEntry.class).stream()
        .map(StoreEffect.UpdateEntry::update)
        .toList();
  }

  @Test
  void holderIsToldWhoAsksWhyAndUntilWhen() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    // When
    CallId call = request();
    // Then
    assertThat(bench.told(holder, Notice.ReleaseRequested.class))
        .containsExactly(
            new Notice.ReleaseRequested(
                A, "ops", "maintenance", Optional.of(Duration.ofSeconds(30).toNanos())));
    Answer.ReleaseAsked asked = (Answer.ReleaseAsked) bench.answer(call);
    assertThat(asked.holders()).extracting(Contender::requestId).containsExactly("h");
  }

  @Test
  void holderIsNotMadeToReleaseByBeingAsked() {
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    request();
    bench.pass(Duration.ofSeconds(10));
    assertThat(bench.told(holder, Notice.Lost.class)).isEmpty();
  }

  @Test
  void holderThatComesBackIsToldAgainWithWhatIsLeftOfTheTime() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked holder = bench.acquireInSession(stream, lease, "h", "a");
    bench.create(holder);
    request();
    // When
    bench.pass(Duration.ofSeconds(5));
    bench.attach(lease);
    // Then
    assertThat(bench.told(holder, Notice.ReleaseRequested.class))
        .extracting(told -> told.leftNanos().orElseThrow())
        .containsExactly(Duration.ofSeconds(30).toNanos(), Duration.ofSeconds(25).toNanos());
  }

  @Test
  void lockThatNobodyHoldsHasNobodyToAsk() {
    assertThat(bench.answer(request())).isEqualTo(new Answer.ReleaseAsked(List.of()));
  }

  @Test
  void holderOfAnotherCoordinatorIsReachedThroughItsEntry() {
    // Given
    StoreEvent.CreatedEntry entry = bench.foreign("a", STRANGER, MutexKind.EXCLUSIVE);
    // When: who it is says its data
    CallId call = request();
    assertThat(updates()).isEmpty();
    read(entry, peers(Optional.empty()));
    // Then
    assertThat(updates())
        .containsExactly(
            new EntryUpdate.Ask(wish("q1", Optional.of(Duration.ofSeconds(30)), false)));
    assertThat(bench.answers(call)).isEmpty();
    answerUpdates(EntryUpdate.Outcome.DONE);
    assertThat(asked(call))
        .singleElement()
        .satisfies(shown -> assertThat(shown.holder()).isEqualTo("peer"))
        .satisfies(shown -> assertThat(shown.token()).isPresent());
  }

  private List<Contender> asked(CallId call) {
    return ((Answer.ReleaseAsked) bench.answer(call)).holders();
  }

  @Test
  void holderThatCannotBeReadInTimeIsAskedAndNotShown() {
    // Given
    bench.foreign("a", STRANGER, MutexKind.EXCLUSIVE);
    // When
    CallId call = request();
    bench.pass(Duration.ofSeconds(3));
    bench
        .all(StoreEffect.UpdateEntry.class)
        .forEach(
            update ->
                bench.on(
                    new UpdateEvent.EntryUpdateAnswered(
                        update.number(), EntryUpdate.Outcome.DONE)));
    // Then
    assertThat(bench.all(StoreEffect.UpdateEntry.class)).hasSize(1);
    assertThat(asked(call)).isEmpty();
  }

  @Test
  void onlyThoseAreShownWhoWereAsked() {
    // Given: the entry of a newer release, one that goes meanwhile, and one of ours
    StoreEvent.CreatedEntry newer = bench.foreign("a", STRANGER, new PermitsKind.Permits(1, 3));
    StoreEvent.CreatedEntry gone =
        bench.foreign("a", new UUID(0x7777, 2), new PermitsKind.Permits(1, 3));
    bench.alone(Wish.named("own").permits("a", 1, 3));
    // When
    CallId call = request();
    read(newer, EntryDetails.foreign("(newer)", Optional.empty()));
    read(gone, peers(Optional.empty()));
    List<StoreEffect.UpdateEntry> sent = bench.last(StoreEffect.UpdateEntry.class);
    sent.forEach(
        update ->
            bench.on(
                new UpdateEvent.EntryUpdateAnswered(
                    update.number(),
                    update.entry().equals(newer.name())
                        ? EntryUpdate.Outcome.UNREADABLE
                        : EntryUpdate.Outcome.GONE)));
    // Then
    assertThat(sent).hasSize(2);
    assertThat(asked(call)).extracting(Contender::requestId).containsExactly("own");
  }

  @Test
  void requestThatCouldNotBeWrittenIsNotCalledDone() {
    StoreEvent.CreatedEntry entry = bench.foreign("a", STRANGER, MutexKind.EXCLUSIVE);
    CallId call = request();
    read(entry, peers(Optional.empty()));
    answerUpdates(EntryUpdate.Outcome.FAILED);
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void wishThatAnotherCoordinatorWroteIsToldOnce() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    StoreEvent.CreatedEntry entry = bench.created(holder);
    RevocationRequest ask = wish("x9", Optional.empty(), false);
    // When: the entry changes twice, the wish still in it
    for (int i = 0; i < 2; i++) {
      bench.on(new StoreEvent.EntryChanged(A, entry.name(), bench.zxid()));
      assertThat(bench.last(StoreEffect.ReadDetails.class)).hasSize(1);
      read(entry, peers(Optional.of(ask)));
    }
    // Then
    assertThat(bench.told(holder, Notice.ReleaseRequested.class))
        .containsExactly(new Notice.ReleaseRequested(A, "ops", "maintenance", Optional.empty()));
  }

  @Test
  void curatorsRevokerIsHeardAndWhatItWroteOverIsPutBack() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    StoreEvent.CreatedEntry entry = bench.created(holder);
    RevocationRequest ask =
        new RevocationRequest(
            RevocationRequest.BY_CURATOR, "a Curator client", "", Optional.empty(), false);
    // When
    bench.on(new StoreEvent.EntryChanged(A, entry.name(), bench.zxid()));
    read(entry, EntryDetails.foreign("", Optional.of(ask)));
    // Then
    assertThat(bench.told(holder, Notice.ReleaseRequested.class)).hasSize(1);
    assertThat(updates()).hasSize(1).first().isInstanceOf(EntryUpdate.Describe.class);
  }

  @Test
  void entryThatCuratorWroteOverSaysAgainForHowMuchLongerItsHolderNeedsTheLock() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    StoreEvent.CreatedEntry entry = bench.created(holder);
    Duration needs = Duration.ofSeconds(8);
    bench.on(
        new ClientEvent.AnswerRelease(bench.call(), holder.lease(), holder.requestId(), needs));
    bench.pass(Duration.ofSeconds(3));
    // When
    bench.on(new StoreEvent.EntryChanged(A, entry.name(), bench.zxid()));
    RevocationRequest ask =
        new RevocationRequest(RevocationRequest.BY_CURATOR, "", "", Optional.empty(), false);
    read(entry, EntryDetails.foreign("", Optional.of(ask)));
    // Then
    EntryUpdate.Describe restored = (EntryUpdate.Describe) updates().get(0);
    assertThat(restored.details().needsMillis()).contains(5_000L);
  }

  @Test
  void forcedReleaseEndsInLostAndIsAnsweredWhenTheEntryIsGone() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    Asked waiter = bench.alone(Wish.named("w").exclusive("a"));
    // When
    CallId call = force(0, Optional.empty());
    // Then
    Notice.Lost lost = bench.told(holder, Notice.Lost.class).get(0);
    assertThat(lost.reason()).isEqualTo(Notice.LossReason.FORCED);
    assertThat(lost.message()).contains("ops", "maintenance");
    assertThat(bench.answers(call)).isEmpty();
    bench.deleteAll(holder);
    assertThat(bench.answer(call)).isEqualTo(new Answer.Forced(1, 0, 0));
    assertThat(bench.granted(waiter).grants().get(0).previous()).contains(HoldEnd.FORCED);
  }

  @Test
  void forcedReleaseWithATokenTakesTheLockFromThatHolderOnly() {
    // Given
    Asked one = bench.alone(Wish.named("one").permits("a", 1, 2));
    Asked two = bench.alone(Wish.named("two").permits("a", 1, 2));
    long token = bench.granted(two).grants().get(0).token().value();
    // When
    force(token, Optional.empty());
    // Then
    assertThat(bench.told(one, Notice.Lost.class)).isEmpty();
    assertThat(bench.told(two, Notice.Lost.class)).hasSize(1);
  }

  @Test
  void forcedReleaseWithATokenIsNotRefusedForGoodWhileAHolderIsUnknown() {
    // Given: a holder of another coordinator, whose entry ZooKeeper does not give
    EntryName other = EntryName.parse("lock-0000000000").orElseThrow();
    bench.on(new StoreEvent.EntryAppeared(new LockName("a"), other, 0x1_0000_0005L));
    // When
    CallId call = force(FencingToken.of(0x1_0000_0005L, 0).value(), Optional.empty());
    bench.pass(Duration.ofSeconds(3));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void forcedReleaseOfNobodySaysSo() {
    assertThat(bench.failure(force(0, Optional.empty()))).isEqualTo(Failure.Reason.NO_HOLDER);
    bench.alone(Wish.named("h").exclusive("a"));
    assertThat(bench.failure(force(4, Optional.empty()))).isEqualTo(Failure.Reason.NO_HOLDER);
  }

  @Test
  void graceAsksFirstAndTakesAwayAfterwards() {
    // Given
    LeaseId lease = bench.lease(Duration.ofMinutes(5));
    Asked holder = bench.askAndCreate(lease, Wish.named("h").exclusive("a"));
    // When
    CallId call = force(0, Optional.of(Duration.ofSeconds(20)));
    // Then
    assertThat(bench.answer(call)).isEqualTo(new Answer.Forced(0, 1, 0));
    assertThat(bench.told(holder, Notice.ReleaseRequested.class)).hasSize(1);
    bench.pass(Duration.ofSeconds(19));
    assertThat(bench.told(holder, Notice.Lost.class)).isEmpty();
    bench.pass(Duration.ofSeconds(2));
    assertThat(bench.told(holder, Notice.Lost.class)).hasSize(1);
  }

  @Test
  void graceThatEndsAfterTheHolderHasGoneTakesNothingFromTheNext() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    LeaseId lease = bench.lease(Duration.ofMinutes(5));
    Asked next = bench.askAndCreate(lease, Wish.named("n").exclusive("a"));
    force(0, Optional.of(Duration.ofSeconds(20)));
    // When
    bench.release(holder);
    bench.deleteAll(holder);
    bench.pass(Duration.ofSeconds(21));
    // Then
    assertThat(bench.wasGranted(next)).isTrue();
    assertThat(bench.told(next, Notice.Lost.class)).isEmpty();
  }

  @Test
  void holderOfAnotherCoordinatorIsMadeToGoByThatOneOrInTheEndByThisOne() {
    // Given
    StoreEvent.CreatedEntry entry = bench.foreign("a", STRANGER, MutexKind.EXCLUSIVE);
    // When: whose it is says its data
    CallId call = force(0, Optional.empty());
    read(entry, peers(Optional.empty()));
    // Then
    assertThat(updates()).containsExactly(new EntryUpdate.Ask(wish("f1", Optional.empty(), true)));
    bench.pass(Duration.ofSeconds(4));
    assertThat(bench.all(StoreEffect.UpdateEntry.class))
        .extracting(StoreEffect.UpdateEntry::update)
        .last()
        .isEqualTo(new EntryUpdate.Remove());
    bench.vanish(entry);
    assertThat(bench.answer(call)).isEqualTo(new Answer.Forced(1, 0, 0));
  }

  @Test
  void forceThatAnotherCoordinatorWroteTakesTheLockAway() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    StoreEvent.CreatedEntry entry = bench.created(holder);
    // When
    bench.on(new StoreEvent.EntryChanged(A, entry.name(), bench.zxid()));
    read(entry, peers(Optional.of(wish("f7", Optional.empty(), true))));
    // Then
    assertThat(bench.told(holder, Notice.Lost.class).get(0).reason())
        .isEqualTo(Notice.LossReason.FORCED);
  }

  @Test
  void entryOfCuratorsIsRemovedAtOnce() {
    StoreEvent.CreatedEntry entry = bench.foreign("a", STRANGER, MutexKind.EXCLUSIVE);
    force(0, Optional.empty());
    read(entry, EntryDetails.foreign("10.0.0.7", Optional.empty()));
    assertThat(updates()).containsExactly(new EntryUpdate.Remove());
  }

  @Test
  void forcedReleaseWhoseHolderStaysIsNotCalledDone() {
    // Given
    StoreEvent.CreatedEntry entry = bench.foreign("a", STRANGER, MutexKind.EXCLUSIVE);
    CallId call = force(0, Optional.empty());
    read(entry, EntryDetails.foreign("", Optional.empty()));
    // When
    bench.pass(Duration.ofSeconds(10));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNAVAILABLE);
  }

  @Test
  void maxHoldIsToldWithTheGrantAndEndsTheHoldALittleLater() {
    // Given
    LeaseId lease = bench.lease(Duration.ofMinutes(5));
    Asked holder =
        bench.askAndCreate(lease, Wish.named("h").exclusive("a").atMost(Duration.ofSeconds(10)));
    assertThat(bench.granted(holder).validForNanos()).isEqualTo(Duration.ofSeconds(10).toNanos());
    // When
    bench.pass(Duration.ofSeconds(10));
    boolean early = !bench.told(holder, Notice.Lost.class).isEmpty();
    bench.pass(Duration.ofSeconds(1));
    // Then
    assertThat(early).isFalse();
    assertThat(bench.told(holder, Notice.Lost.class).get(0).reason())
        .isEqualTo(Notice.LossReason.MAX_HOLD);
  }

  @Test
  void regainedContactPromisesNoMoreThanMaxHoldAllows() {
    // Given
    LeaseId lease = bench.lease(Duration.ofMinutes(5));
    Asked holder =
        bench.askAndCreate(lease, Wish.named("h").exclusive("a").atMost(Duration.ofSeconds(10)));
    bench.pass(Duration.ofSeconds(4));
    // When
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    // Then
    long left = Duration.ofSeconds(6).toNanos();
    assertThat(bench.told(holder, Notice.Jeopardy.class).get(0).validForNanos()).isEqualTo(left);
    assertThat(bench.told(holder, Notice.Safe.class).get(0).validForNanos()).isEqualTo(left);
  }

  @Test
  void wishThatWasWrittenWhileTheMirrorWasAwayIsHeardAfterwards() {
    // Given
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    StoreEvent.CreatedEntry entry = bench.created(holder);
    // When
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(java.util.Set.of(A)));
    bench.on(
        new StoreEvent.QueueListed(
            A, List.of(new StoreEvent.ListedEntry(entry.name(), Optional.empty(), 0)), List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    assertThat(bench.last(StoreEffect.ReadDetails.class)).hasSize(1);
    read(entry, peers(Optional.of(wish("x9", Optional.empty(), false))));
    // Then
    assertThat(bench.told(holder, Notice.ReleaseRequested.class)).hasSize(1);
  }

  @Test
  void releaseBeforeMaxHoldEndsTheTimer() {
    Asked holder = bench.alone(Wish.named("h").exclusive("a").atMost(Duration.ofSeconds(5)));
    bench.release(holder);
    bench.deleteAll(holder);
    bench.pass(Duration.ofSeconds(6));
    assertThat(bench.told(holder, Notice.Lost.class)).isEmpty();
  }
}
