package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a coordinator does that loses its sessions to others, or is about to leave. */
class DeposedLeasesTest {

  private final Bench bench = Bench.ready();

  private void depose() {
    bench.on(new SessionEvent.SessionEnded(Bench.S1, true));
  }

  @Test
  void deposedCoordinatorTellsNobodyALossAndDeletesNothing() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked held = bench.acquireInSession(stream, lease, "held", "a");
    bench.create(held);
    // When
    depose();
    // Then
    assertThat(bench.told(held, Notice.Lost.class)).isEmpty();
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    assertThat(bench.all(Effect.TellLeaseEnd.class)).isEmpty();
    assertThat(bench.all(Effect.SendAway.class))
        .extracting(Effect.SendAway::stream)
        .containsExactly(stream);
    assertThat(bench.counts().leases()).isZero();
    assertThat(bench.counts().acquisitions()).isZero();
  }

  @Test
  void releaseWhoseDeletionAnotherMustDoIsNotAnsweredAsDone() {
    // Given
    LeaseId lease = bench.lease();
    Asked held = bench.acquireInSession(bench.attach(lease), lease, "held", "a");
    bench.create(held);
    CallId call = bench.release(held);
    // When
    depose();
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.MOVED);
  }

  @Test
  void streamOfARequestIsToldToRepeatIt() {
    // Given
    LeaseId lease = bench.lease();
    Asked waiting = bench.acquire(lease, "waits", "a");
    // When
    depose();
    // Then
    assertThat(bench.refusals(waiting.stream())).containsExactly(Failure.Reason.MOVED);
  }

  @Test
  void clientThatIsItsStreamIsToldThatItHasLost() {
    // Given: its stream is here, and nobody else can serve it
    Asked held = bench.acquire("a");
    bench.create(held);
    // When
    depose();
    // Then
    assertThat(bench.told(held, Notice.Lost.class))
        .containsExactly(new Notice.Lost(Notice.LossReason.SESSION_LOST, ""));
  }

  @Test
  void releaseOfAStreamsLockIsNotCalledDoneWhenItsEntryIsAnothersNow() {
    // Given
    Asked held = bench.acquire("a");
    bench.create(held);
    CallId release = bench.release(held);
    // When
    depose();
    // Then
    assertThat(bench.failure(release)).isEqualTo(Failure.Reason.MOVED);
    assertThat(bench.told(held, Notice.Released.class)).isEmpty();
    assertThat(bench.refusals(held.stream())).containsExactly(Failure.Reason.MOVED);
    assertThat(bench.counts().acquisitions() + bench.counts().leases()).isZero();
  }

  @Test
  void leaseThatMovedIsUnknownHereAndNotCalledEnded() {
    // Given
    LeaseId lease = bench.lease();
    // When
    depose();
    CallId call = bench.call();
    bench.on(new ClientEvent.KeepAlive(call, lease));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.UNKNOWN_LEASE);
  }

  @Test
  void entryOfALeaseThatMovedGoesOnHoldingItsLock() {
    // Given
    LeaseId lease = bench.lease();
    Asked held = bench.acquireInSession(bench.attach(lease), lease, "held", "a");
    StoreEvent.CreatedEntry entry = bench.create(held);
    depose();
    bench.opened(new SessionKey(2));
    // When
    Asked next = bench.acquire("a");
    bench.create(next);
    assertThat(bench.wasGranted(next)).isFalse();
    bench.vanish(entry);
    // Then
    assertThat(bench.wasGranted(next)).isTrue();
  }

  @Test
  void nothingOfWhatMovedIsLeftInTheClocks() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked held =
        bench.askAndCreate(
            lease, Wish.named("held").exclusive("a").by("t").atMost(Duration.ofSeconds(3)));
    bench.ask(lease, Wish.named("again").exclusive("a").by("t").waiting(Duration.ofSeconds(2)));
    depose();
    int told = bench.told(held).size();
    // When
    bench.pass(Duration.ofMinutes(2));
    // Then
    assertThat(bench.told(held)).hasSize(told);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    assertThat(bench.all(StoreEffect.EraseLease.class)).isEmpty();
    assertThat(stream).isNotNull();
  }

  @Test
  void coordinatorWithoutContactSendsItsClientsToPeersThatServe() {
    // Given
    bench.on(new LifecycleEvent.PeersServing(2));
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    // When
    bench.proving = false;
    bench.pass(Bench.settings().sendAwayAfter());
    // Then: the lease lives on, for who comes back
    assertThat(bench.all(Effect.SendAway.class))
        .extracting(Effect.SendAway::stream)
        .containsExactly(stream);
    assertThat(bench.counts().leases()).isOne();
  }

  @Test
  void coordinatorWhosePeersCannotServeEitherKeepsItsClients() {
    // Given
    bench.on(new LifecycleEvent.PeersServing(2));
    bench.on(new LifecycleEvent.PeersServing(0));
    bench.attach(bench.lease());
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    // When
    bench.proving = false;
    bench.pass(Bench.settings().sendAwayAfter());
    // Then
    assertThat(bench.all(Effect.SendAway.class)).isEmpty();
  }

  @Test
  void contactThatIsBackInTimeSendsNobodyAway() {
    // Given
    bench.on(new LifecycleEvent.PeersServing(1));
    bench.attach(bench.lease());
    bench.on(new SessionEvent.SessionSuspended(Bench.S1));
    bench.pass(Duration.ofSeconds(2));
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    // When
    bench.pass(Duration.ofSeconds(20));
    // Then
    assertThat(bench.all(Effect.SendAway.class)).isEmpty();
  }

  @Test
  void coordinatorThatLeavesTellsWaitersOnStreamsToAskElsewhereAndNoEnding() {
    // Given
    bench.create(bench.acquire("a"));
    Asked waiter = bench.acquire("a");
    bench.create(waiter);
    // When
    bench.on(new LifecycleEvent.Draining());
    // Then
    assertThat(bench.all(Effect.Refuse.class))
        .filteredOn(refusal -> refusal.stream().equals(waiter.stream()))
        .singleElement()
        .satisfies(
            refusal -> assertThat(refusal.failure().reason()).isEqualTo(Failure.Reason.LEAVING));
    assertThat(bench.told(waiter, Notice.NotAcquired.class)).isEmpty();
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .extracting(StoreEffect.DeleteEntries::id)
        .contains(waiter.id());
  }

  @Test
  void coordinatorThatLeavesTakesNothingNewAndEndsItsStreams() {
    // Given
    LeaseId lease = bench.lease();
    Asked kept = bench.acquireInSession(bench.attach(lease), lease, "kept", "a");
    bench.create(kept);
    Asked stream = bench.acquire("b");
    bench.create(stream);
    // When
    bench.on(new LifecycleEvent.Draining());
    // Then
    assertThat(bench.told(stream, Notice.Lost.class)).hasSize(1);
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    bench.pass(Bench.settings().tick());
    assertThat(bench.all(StoreEffect.DeleteEntries.class))
        .extracting(StoreEffect.DeleteEntries::id)
        .containsExactly(stream.id());
    assertThat(bench.told(kept, Notice.Lost.class)).isEmpty();
    CallId open = bench.call();
    bench.on(new ClientEvent.OpenLease(open, new LeaseId(1, 2), "h", Bench.TTL, "late"));
    assertThat(bench.failure(open)).isEqualTo(Failure.Reason.LEAVING);
    bench.on(new SessionEvent.OrphanFound(Inheritance.CLAIM));
    assertThat(bench.all(StoreEffect.AdoptSession.class)).isEmpty();
    depose();
    assertThat(bench.all(StoreEffect.OpenSession.class)).hasSize(1);
  }

  private long bytesOf(SessionKey session) {
    return bench.counts().sessions().stream()
        .filter(counts -> counts.key().equals(session))
        .mapToLong(CoreCounts.SessionCounts::pathBytes)
        .sum();
  }

  @Test
  void leaseThatIsLeftBehindGivesItsBytesBackToTheSessionThatStays() {
    // Given: a lease with what it holds, waits for and holds once more
    LeaseId other = bench.lease();
    bench.askAndCreate(other, Wish.named("other").exclusive("b"));
    long before = bytesOf(Bench.S1);
    LeaseId lease = bench.lease();
    Wish wish = Wish.named("held").exclusive("a").by("t");
    Asked held = bench.askAndCreate(lease, wish);
    StoreEvent.CreatedEntry entry = bench.created(held);
    bench.ask(lease, Wish.named("again").exclusive("a").by("t"));
    bench.ask(lease, Wish.named("waits").exclusive("b"));
    // When: another coordinator had its session, and we take that one before we hear of it
    SessionKey key = new Inheritance(bench).claim();
    adopt(key, lease, wish, entry);
    // Then: what it was told that it holds once more is created again
    assertThat(bytesOf(Bench.S1)).isEqualTo(before);
    assertThat(bytesOf(key)).isEqualTo(Bench.LEASE_BYTES + 2 * Bench.ENTRY_BYTES);
  }

  @Test
  void sessionWhoseLastLeaseIsLeftBehindIsEmpty() {
    // Given
    LeaseId lease = bench.lease();
    Wish wish = Wish.named("held").exclusive("a");
    Asked held = bench.askAndCreate(lease, wish);
    StoreEvent.CreatedEntry entry = bench.created(held);
    // When
    SessionKey key = new Inheritance(bench).claim();
    adopt(key, lease, wish, entry);
    // Then
    assertThat(bytesOf(Bench.S1)).isZero();
  }

  private void adopt(SessionKey key, LeaseId lease, Wish wish, StoreEvent.CreatedEntry entry) {
    EntryDetails details = Inheritance.details(lease, wish.command(Optional.of(lease)), false);
    bench.on(
        new SessionEvent.SessionAdopted(
            key,
            2,
            Bench.TIMEOUT.toNanos(),
            bench.now,
            bench.now,
            bench.now,
            false,
            Optional.empty(),
            List.of(new SessionEvent.AdoptedLease(lease, 15_000, "tester", "hash", "")),
            List.of(
                new SessionEvent.AdoptedEntry(
                    entry.lock(),
                    entry.name(),
                    new StoreEvent.ReadEntry(details, entry.czxid(), 0, Optional.empty())))));
  }

  @Test
  void sessionThatComesBackIsAdoptedLikeAnyOther() {
    // Given: deposed, and later the one who adopted it died
    LeaseId lease = bench.lease();
    Asked held = bench.acquireInSession(bench.attach(lease), lease, "held", "a");
    StoreEvent.CreatedEntry entry = bench.create(held);
    depose();
    SessionKey key = new Inheritance(bench).claim();
    adopt(key, lease, Wish.named("held").exclusive("a"), entry);
    // When
    bench.attach(lease);
    // Then
    assertThat(bench.told(held, Notice.Granted.class)).hasSize(2);
  }

  @Test
  void levelThatWasGrantedAheadIsCreatedWhenTheSessionComesBack() {
    // Given: an owner holds a lock twice, and the session is another's before the second is created
    LeaseId lease = bench.lease();
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Asked first = bench.askAndCreate(lease, outer);
    Asked level = bench.ask(lease, Wish.named("inner").exclusive("a").by("t"));
    long token = bench.granted(level).grants().get(0).token().value();
    Inheritance left = new Inheritance(bench);
    left.record(lease);
    AcquireCommand command = outer.command(Optional.of(lease));
    left.add(bench.created(first), Inheritance.details(lease, command, false));
    depose();
    // When: its client knows nothing of that, and gives the first back
    left.take();
    StoreEffect.CreateEntries again = bench.all(StoreEffect.CreateEntries.class).get(2);
    bench.on(new ClientEvent.Release(bench.call(), lease, "outer", 0));
    // Then: what it is beside stays until the level is created
    assertThat(bench.all(StoreEffect.DeleteEntries.class)).isEmpty();
    assertThat(again.id()).isNotEqualTo(level.id());
    assertThat(again.entries().get(0).beside()).isPresent();
    // And: its client finds it with its token
    Asked repeated =
        bench.repeat(
            bench.attach(lease), lease, Wish.named("inner").exclusive("a").by("t").holding(token));
    assertThat(bench.told(repeated, Notice.Granted.class))
        .last()
        .extracting(granted -> granted.grants().get(0).token().value())
        .isEqualTo(token);
  }

  @Test
  void levelThatWasGrantedAheadIsForgottenWhenNobodyCanRelyOnItAnyMore() {
    // Given
    LeaseId lease = bench.lease();
    bench.askAndCreate(lease, Wish.named("outer").exclusive("a").by("t"));
    bench.ask(lease, Wish.named("inner").exclusive("a").by("t"));
    depose();
    // When
    bench.pass(Bench.TTL.multipliedBy(2));
    // Then
    assertThat(bench.kernel.core.timers.size()).isZero();
  }

  private void giveBackWhatItIsBeside(LeaseId lease) {
    // It has a session of its own by now for those who come anew.
    bench.all(StoreEffect.OpenSession.class).forEach(open -> bench.opened(open.session()));
    Asked next = bench.askAndCreate(bench.lease(), Wish.named("next").exclusive("a"));
    bench.pass(Duration.ofSeconds(1));
    bench.attach(lease);
    bench.on(new ClientEvent.Release(bench.call(), lease, "outer", 0));
    assertThat(bench.wasGranted(next)).isFalse();
  }

  /**
   * The coordinator loses the session of an owner that holds a lock twice, by the entry returned.
   */
  private StoreEvent.CreatedEntry deposedAfterALevelWasGrantedAhead(LeaseId lease) {
    Asked outer = bench.askAndCreate(lease, Wish.named("outer").exclusive("a").by("t"));
    bench.ask(lease, Wish.named("inner").exclusive("a").by("t"));
    StoreEvent.CreatedEntry entry = bench.created(outer);
    depose();
    return entry;
  }

  /** What is left of a lease with an owner that holds a lock twice, by one entry so far. */
  private Inheritance leftByAnOwner(LeaseId lease, StoreEvent.CreatedEntry entry) {
    Inheritance left = new Inheritance(bench);
    left.record(lease);
    AcquireCommand outer = Wish.named("outer").exclusive("a").by("t").command(Optional.of(lease));
    left.add(entry, Inheritance.details(lease, outer, false));
    return left;
  }

  @Test
  void levelThatWasGrantedAheadOutlivesASecondTakeover() {
    // Given
    LeaseId lease = bench.lease();
    StoreEvent.CreatedEntry entry = deposedAfterALevelWasGrantedAhead(lease);
    SessionKey second = leftByAnOwner(lease, entry).take();
    // When
    bench.on(new SessionEvent.SessionEnded(second, true));
    leftByAnOwner(lease, entry).take();
    // Then
    giveBackWhatItIsBeside(lease);
  }

  @Test
  void levelThatWasGrantedAheadIsTriedAgainWhenItIsRefused() {
    // Given
    LeaseId lease = bench.lease();
    StoreEvent.CreatedEntry entry = deposedAfterALevelWasGrantedAhead(lease);
    leftByAnOwner(lease, entry).take();
    // When
    UUID again = bench.all(StoreEffect.CreateEntries.class).get(2).id();
    bench.on(new StoreEvent.EntriesRefused(again, "too many writes wait"));
    // Then
    giveBackWhatItIsBeside(lease);
  }

  @Test
  void levelThatWasGrantedAheadAndNobodyComesForIsGivenBack() {
    // Given
    LeaseId lease = bench.lease();
    StoreEvent.CreatedEntry entry = deposedAfterALevelWasGrantedAhead(lease);
    leftByAnOwner(lease, entry).take();
    // When: it was given back elsewhere, and nobody here can know
    for (int i = 0; i < 10; i++) {
      bench.on(new ClientEvent.KeepAlive(bench.call(), lease));
      bench.pass(Bench.TTL.dividedBy(2));
    }
    // Then
    assertThat(bench.kernel.core.leases.get(lease).acquisitions().get("inner"))
        .satisfiesAnyOf(
            acquisition -> assertThat(acquisition).isNull(),
            acquisition -> assertThat(acquisition.state().isLive()).isFalse());
  }
}
