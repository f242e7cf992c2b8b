package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What an owner holds more than once, and another coordinator served before. */
class AdoptedLevelsTest {

  private final Bench bench = Bench.ready();
  private final Inheritance left = new Inheritance(bench);
  private final LeaseId lease = left.lease();

  private StoreEvent.CreatedEntry entry(String requestId) {
    return left.created("a", requestId);
  }

  @Test
  void everyLevelIsFoundAgainWithItsTokenByWhatItsEntrySays() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Wish inner = Wish.named("inner").exclusive("a").by("t");
    long token = left.entries(lease, outer).get(0);
    left.level(lease, inner, outer);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    bench.repeat(stream, lease, inner.holding(token));
    bench.repeat(stream, lease, outer.holding(token));
    // Then: each was told when its client came, and is told once more
    for (String level : List.of("outer", "inner")) {
      assertThat(bench.told(level))
          .hasSize(2)
          .allSatisfy(
              notice ->
                  assertThat(((Notice.Granted) notice).grants().get(0).token().value())
                      .isEqualTo(token));
    }
    assertThat(bench.all(StoreEffect.CreateEntries.class)).isEmpty();
  }

  @Test
  void leaseThatEndsDeletesEveryLevelAndNothingIsLeft() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    left.entries(lease, outer);
    left.level(lease, Wish.named("inner").exclusive("a").by("t"), outer);
    left.take();
    // When
    bench.on(new ClientEvent.CloseLease(bench.call(), lease));
    List<StoreEffect.DeleteEntries> deletions = bench.all(StoreEffect.DeleteEntries.class);
    deletions.forEach(deletion -> bench.on(new StoreEvent.EntriesDeleted(deletion.id())));
    bench.erased(lease);
    // Then
    assertThat(deletions)
        .flatExtracting(StoreEffect.DeleteEntries::entries)
        .containsExactlyInAnyOrder(Bench.ref(entry("outer")), Bench.ref(entry("inner")));
    bench.assertNothingIsLeft();
  }

  @Test
  void levelsOfAHolderThatWasGrantedAheadOfADeletionAreAllGranted() {
    // Given: whoever is ahead had released, and its deletion was never committed
    LeaseId releasing = left.lease();
    left.entries(releasing, Wish.named("first").exclusive("a"));
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Wish inner = Wish.named("inner").exclusive("a").by("t");
    Wish third = Wish.named("third").exclusive("a").by("t");
    long token = left.entries(lease, outer).get(0);
    left.level(lease, inner, outer);
    left.take();
    StreamId stream = bench.attach(lease);
    // When: its client knows the token, also of a level of which no entry tells
    bench.createAll(bench.repeat(stream, lease, third.holding(token)));
    bench.repeat(stream, lease, inner.holding(token));
    bench.repeat(stream, lease, outer.holding(token));
    bench.on(new ClientEvent.Release(bench.call(), releasing, "first", 0));
    // Then
    for (String level : List.of("outer", "inner", "third")) {
      assertThat(bench.told(level)).last().isInstanceOf(Notice.Granted.class);
    }
    // And what is asked for anew is granted beside them
    Bench.Asked fourth = bench.ask(lease, Wish.named("fourth").exclusive("a").by("t"));
    assertThat(bench.granted(fourth).grants().get(0).holdCount()).isEqualTo(4);
  }

  @Test
  void requestThatWaitsForOneLockIsGrantedWhenItsOwnerHoldsTheOtherByItsToken() {
    // Given: an owner was granted a lock ahead of a deletion that was not committed, and waits for
    // it once more together with another
    LeaseId others = left.lease();
    left.entries(others, Wish.named("first").exclusive("a"));
    left.entries(others, Wish.named("other").exclusive("b"));
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Wish both = Wish.named("both").exclusive("a", "b").by("t");
    long token = left.entries(lease, outer).get(0);
    left.level(lease, both, outer);
    left.take();
    StreamId stream = bench.attach(lease);
    bench.repeat(stream, lease, both);
    bench.repeat(stream, lease, outer.holding(token));
    // When
    bench.on(new ClientEvent.Release(bench.call(), others, "other", 0));
    bench.on(new ClientEvent.Release(bench.call(), others, "first", 0));
    // Then
    assertThat(bench.told("outer")).last().isInstanceOf(Notice.Granted.class);
    assertThat(bench.told("both")).last().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void levelThatIsRepeatedWithItsTokenIsNotTimedOutWhileTheSessionIsInDoubt() {
    // Given
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    long token = left.entries(lease, outer).get(0);
    SessionKey session = left.take();
    StreamId stream = bench.attach(lease);
    bench.repeat(stream, lease, outer.holding(token));
    bench.proving = false;
    bench.on(new SessionEvent.SessionSuspended(session));
    Wish inner = Wish.named("inner").exclusive("a").by("t").waiting(Duration.ofSeconds(1));
    bench.repeat(stream, lease, inner.holding(token));
    // When
    bench.pass(Duration.ofSeconds(2));
    // Then
    assertThat(bench.told("inner")).isEmpty();
    bench.on(new SessionEvent.SessionProved(session, bench.now, bench.now));
    assertThat(bench.told("inner")).first().isInstanceOf(Notice.Granted.class);
  }

  @Test
  void levelThatIsRepeatedWithItsTokenIsNeverTimedOutThoughItsBaseStillWaitsHere() {
    // Given: by the queue their owner only waits, behind an entry whose deletion was not committed,
    // and nobody else can vouch for it any more
    left.entries(left.lease(), Wish.named("first").exclusive("a"));
    Wish outer = Wish.named("outer").exclusive("a").by("t").waiting(Duration.ofHours(1));
    Wish inner = Wish.named("inner").exclusive("a").by("t").waiting(Duration.ofHours(1));
    Wish third = Wish.named("third").exclusive("a").by("t").waiting(Duration.ofSeconds(1));
    long token = left.entries(lease, outer).get(0);
    left.level(lease, inner, outer);
    SessionKey session = left.take();
    StreamId stream = bench.attach(lease);
    for (int i = 0; i < 5; i++) {
      bench.pass(Bench.TTL.dividedBy(2));
      bench.on(new ClientEvent.KeepAlive(bench.call(), lease));
    }
    bench.proving = false;
    bench.on(new SessionEvent.SessionSuspended(session));
    bench.repeat(stream, lease, inner.holding(token));
    bench.repeat(stream, lease, third.holding(token));
    // When
    bench.pass(Duration.ofSeconds(6));
    // Then
    assertThat(bench.told("outer")).last().isInstanceOf(Notice.Queued.class);
    for (String level : List.of("inner", "third")) {
      assertThat(bench.told(level)).noneMatch(Notice.NotAcquired.class::isInstance);
    }
    bench.vanish(left.created("a", "first"));
    bench.on(new SessionEvent.SessionProved(session, bench.now, bench.now));
    for (String level : List.of("inner", "third")) {
      assertThat(bench.told(level)).last().isInstanceOf(Notice.Granted.class);
    }
  }

  @Test
  void whoTimedOutHereAndHoldsElsewhereIsNotToldThatItIsLostWithoutAProof() {
    // Given: the coordinator does not know yet that another has the session
    LeaseId own = bench.lease();
    StreamId stream = bench.attach(own);
    bench.askAndCreate(bench.lease(), Wish.named("holder").exclusive("x"));
    Wish wish = Wish.named("waits").exclusive("x").waiting(Duration.ofSeconds(1));
    StoreEvent.CreatedEntry entry = bench.createAll(bench.ask(own, wish)).get(0);
    long token = FencingToken.of(entry.czxid(), entry.index()).value();
    bench.deleting = false;
    bench.pass(Duration.ofSeconds(1));
    // When
    bench.repeat(stream, own, wish.holding(token));
    // Then: the deletion is the proof
    assertThat(bench.told("waits")).last().isInstanceOf(Notice.Queued.class);
    bench.on(new StoreEvent.EntriesDeleted(bench.deletions().get(0).id()));
    assertThat(bench.told("waits")).last().isInstanceOf(Notice.Lost.class);
  }

  @Test
  void whoComesBackAndMayHoldElsewhereIsNotTimedOutWithoutAProof() {
    // Given: the coordinator does not know yet that another has the session
    LeaseId own = bench.lease();
    bench.askAndCreate(bench.lease(), Wish.named("holder").exclusive("x"));
    bench.createAll(
        bench.ask(own, Wish.named("waits").exclusive("x").waiting(Duration.ofSeconds(1))));
    bench.proving = false;
    bench.pass(Duration.ofMillis(900));
    bench.attach(own);
    // When
    bench.pass(Duration.ofMillis(200));
    // Then
    assertThat(bench.told("waits")).noneMatch(Notice.NotAcquired.class::isInstance);
    bench.on(new SessionEvent.SessionProved(Bench.S1, bench.now, bench.now));
    assertThat(bench.told("waits")).last().isInstanceOf(Notice.NotAcquired.class);
  }

  @Test
  void levelIsPlacedBesideThatEntryOfItsOwnerWhoseTokenItNames() {
    // Given: an owner who reads twice, by entries of its own
    Wish first = Wish.named("first").read("a").by("t");
    Wish second = Wish.named("second").read("a").by("t");
    left.entries(lease, first);
    long token = left.entries(lease, second).get(0);
    left.take();
    StreamId stream = bench.attach(lease);
    // When
    Bench.Asked more =
        bench.repeat(stream, lease, Wish.named("more").read("a").by("t").holding(token));
    // Then
    assertThat(bench.granted(more).grants().get(0).token().value()).isEqualTo(token);
    assertThat(bench.planned(more).entries().get(0).beside())
        .map(PlannedEntry.Beside::entry)
        .contains(entry("second").name());
  }

  @Test
  void levelIsPlacedBesideAnEntryThatExistsAndNotBesideOneThatWasRemoved() {
    // Given: one of two entries of the outer hold is removed
    Wish outer = Wish.named("outer").exclusive("a", "b").by("t");
    Wish inner = Wish.named("inner").exclusive("a").by("t");
    long token = left.entries(lease, outer).get(0);
    left.level(lease, inner, outer);
    left.take();
    bench.vanish(entry("outer"));
    // When
    Bench.Asked asked =
        bench.repeat(
            bench.attach(lease), lease, Wish.named("more").exclusive("a").by("t").holding(token));
    // Then
    assertThat(bench.planned(asked).entries().get(0).beside())
        .map(PlannedEntry.Beside::entry)
        .contains(entry("inner").name());
  }

  @Test
  void levelThatTheMirrorDoesNotShowKeepsOthersOutWhenTheOneBesideItIsGivenBack() {
    // Given: the mirror is behind
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    Wish inner = Wish.named("inner").exclusive("a").by("t");
    long token = left.entries(lease, outer).get(0);
    left.level(lease, inner, outer);
    StoreEvent.CreatedEntry unseen = entry("inner");
    bench.vanish(unseen);
    Bench.Asked next = bench.ask(bench.lease(), Wish.named("next").exclusive("a"));
    bench.createAll(next);
    left.adoptedAs(left.claim(), false);
    StreamId stream = bench.attach(lease);
    bench.repeat(stream, lease, outer.holding(token));
    bench.repeat(stream, lease, inner.holding(token));
    // When
    bench.on(new ClientEvent.Release(bench.call(), lease, "outer", 0));
    bench.on(new StoreEvent.EntriesDeleted(entry("outer").name().id().orElseThrow()));
    // Then
    assertThat(bench.wasGranted(next)).isFalse();
    // And: as soon as it has shown both, it decides again
    bench.appear(unseen);
    bench.vanish(entry("outer"));
    assertThat(bench.wasGranted(next)).isFalse();
    bench.on(new ClientEvent.Release(bench.call(), lease, "inner", 0));
    assertThat(bench.wasGranted(next)).isTrue();
  }

  @Test
  void levelThatAnOlderListingDoesNotShowKeepsOthersOutWhenTheOneBesideItIsGivenBack() {
    // Given
    LeaseId own = bench.lease();
    Bench.Asked outer = bench.askAndCreate(own, Wish.named("outer").exclusive("a").by("t"));
    bench.askAndCreate(own, Wish.named("inner").exclusive("a").by("t"));
    Bench.Asked next = bench.ask(bench.lease(), Wish.named("next").exclusive("a"));
    bench.createAll(next);
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(Set.of(outer.lock())));
    List<StoreEvent.ListedEntry> older =
        List.of(bench.created(outer), bench.created(next)).stream()
            .map(e -> new StoreEvent.ListedEntry(e.name(), Optional.of(e.czxid()), e.index()))
            .toList();
    bench.on(new StoreEvent.QueueListed(outer.lock(), older, List.of()));
    bench.on(new StoreEvent.MirrorCurrent());
    // When
    bench.release(outer);
    // Then
    assertThat(bench.wasGranted(next)).isFalse();
  }

  @Test
  void whatAClientClaimsToHoldTakesNoMoreThanASessionMayOwn() {
    // Given
    CoreSettings settings = SessionPoolTest.small(8);
    Bench small = Bench.ready(settings);
    Inheritance inherited = new Inheritance(small);
    LeaseId adopted = inherited.lease();
    Wish outer = Wish.named("outer").exclusive("a").by("t");
    long token = inherited.entries(adopted, outer).get(0);
    inherited.take();
    StreamId stream = small.attach(adopted);
    long most = settings.maxSessionPathBytes();
    // When: it names its token for one level after the other that nobody has granted
    for (int i = 0; i <= most / Bench.ENTRY_BYTES; i++) {
      small.repeat(stream, adopted, Wish.named("claim" + i).exclusive("a").by("t").holding(token));
    }
    // Then
    assertThat(small.counts().sessions())
        .allSatisfy(session -> assertThat(session.pathBytes()).isLessThanOrEqualTo(most));
    assertThat(small.told("claim" + most / Bench.ENTRY_BYTES))
        .singleElement()
        .isInstanceOf(Notice.Lost.class);
  }

  @Test
  void levelThatNobodyHasGrantedIsNotHeldForItsToken() {
    // Given: a lease that no other coordinator served
    LeaseId own = bench.lease();
    StreamId stream = bench.attach(own);
    Bench.Asked outer = bench.askAndCreate(own, Wish.named("own").exclusive("x").by("t"));
    long token = bench.granted(outer).grants().get(0).token().value();
    // When
    bench.repeat(stream, own, Wish.named("claim").exclusive("x").by("t").holding(token));
    // Then
    assertThat(bench.told("claim")).singleElement().isInstanceOf(Notice.Lost.class);
    assertThat(bench.all(StoreEffect.CreateEntries.class)).hasSize(1);
  }
}
