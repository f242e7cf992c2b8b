package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Holders who want to know whether somebody waits for what they hold. */
class ContentionTest {

  private static final LockName A = new LockName("a");
  private static final Notice.Contended ONE = new Notice.Contended(A, 1, Optional.empty());

  private final Bench bench = Bench.ready();

  private static Wish holder() {
    return Wish.named("h").exclusive("a").notifiedOfContention();
  }

  private List<Notice.Contended> told(Asked holder) {
    return bench.told(holder, Notice.Contended.class);
  }

  private Asked waiter(String name) {
    return bench.alone(Wish.named(name).exclusive("a"));
  }

  @Test
  void holderIsToldOnceWhenTheFirstWaits() {
    Asked holder = bench.alone(holder());
    assertThat(told(holder)).isEmpty();
    waiter("w1");
    waiter("w2");
    assertThat(told(holder)).containsExactly(ONE);
  }

  @Test
  void holderIsToldOfWhoAsksHereBeforeHisEntryIsThere() {
    // Given
    Asked holder = bench.alone(holder());
    // When
    Asked waiter = bench.ask(bench.lease(), Wish.named("w").exclusive("a"));
    assertThat(told(holder)).containsExactly(ONE);
    bench.release(holder);
    bench.createAll(waiter);
    // Then: it waits for nothing but its own entry
    assertThat(bench.granted(waiter).grants()).hasSize(1);
    assertThat(told(holder)).hasSize(1);
  }

  @Test
  void readersAreNotToldOfAReaderWhoAsks() {
    // Given
    Asked holder = bench.alone(Wish.named("r").read("a").notifiedOfContention());
    // When
    bench.ask(bench.lease(), Wish.named("r2").read("a"));
    assertThat(told(holder)).isEmpty();
    bench.ask(bench.lease(), Wish.named("w").write("a"));
    // Then
    assertThat(told(holder)).containsExactly(ONE);
  }

  @Test
  void ownerWhoAsksForOneMoreLevelWaitsForNobody() {
    // Given
    LeaseId lease = bench.lease();
    Asked holder = bench.ask(lease, holder().by("o"));
    bench.createAll(holder);
    // When
    bench.ask(lease, Wish.named("again").by("o").exclusive("a"));
    // Then
    assertThat(told(holder)).isEmpty();
  }

  @Test
  void waiterOfAnotherCoordinatorOrOfCuratorCountsAsWell() {
    Asked holder = bench.alone(holder());
    bench.takenElsewhere("a");
    assertThat(told(holder)).containsExactly(ONE);
  }

  @Test
  void whoDoesNotAskIsNotTold() {
    Asked holder = bench.alone(Wish.named("h").exclusive("a"));
    waiter("w");
    assertThat(told(holder)).isEmpty();
  }

  @Test
  void grantSaysHowManyWaitAndNothingFollowsIt() {
    // Given
    Asked first = bench.alone(Wish.named("first").exclusive("a"));
    Asked holder = bench.alone(holder());
    waiter("w1");
    waiter("w2");
    // When
    bench.release(first);
    // Then
    assertThat(bench.granted(holder).grants().get(0).waiters()).isEqualTo(2);
    waiter("w3");
    assertThat(told(holder)).isEmpty();
  }

  @Test
  void grantToOneWhoDoesNotAskSaysNothing() {
    Asked first = bench.alone(Wish.named("first").exclusive("a"));
    Asked second = bench.alone(Wish.named("second").exclusive("a"));
    waiter("w");
    bench.release(first);
    assertThat(bench.granted(second).grants().get(0).waiters()).isZero();
  }

  @Test
  void readersAreToldOfTheWriterAndNotOfEachOther() {
    // Given
    Asked one = bench.alone(Wish.named("r1").read("a").notifiedOfContention());
    Asked other = bench.alone(Wish.named("r2").read("a").notifiedOfContention());
    assertThat(told(one)).isEmpty();
    // When
    bench.alone(Wish.named("w").write("a"));
    // Then
    assertThat(told(one)).containsExactly(ONE);
    assertThat(told(other)).containsExactly(ONE);
  }

  @Test
  void readerIsToldOfALevelThatWaitsAheadOfIt() {
    // Given: the first reader has released, and its deletion is not committed
    Asked first = bench.alone(Wish.named("r1").read("a"));
    LeaseId lease = bench.lease();
    bench.createAll(bench.ask(lease, Wish.named("r2").by("o").read("a")));
    Asked last = bench.alone(Wish.named("r3").read("a").notifiedOfContention());
    bench.release(first);
    // When: a level with a lock delay waits for that commit
    Wish level = Wish.named("level").by("o").read("a").delaying(Duration.ofSeconds(1));
    bench.createAll(bench.ask(lease, level));
    bench.alone(Wish.named("w").write("a"));
    // Then
    assertThat(told(last)).isNotEmpty();
  }

  @Test
  void readerThatIsOnItsWayOutIsNobodyWhoWaits() {
    // Given
    bench.alone(Wish.named("r1").read("a"));
    Asked leaving = bench.alone(Wish.named("r2").read("a"));
    bench.release(leaving);
    // When
    Asked third = bench.alone(Wish.named("r3").read("a").notifiedOfContention());
    // Then
    assertThat(bench.granted(third).grants().get(0).waiters()).isZero();
    assertThat(told(third)).isEmpty();
  }

  @Test
  void oneOfSeveralLocksIsEnough() {
    Asked holder = bench.alone(Wish.named("h").exclusive("b", "a").notifiedOfContention());
    waiter("w");
    assertThat(told(holder)).containsExactly(ONE);
  }

  @Test
  void holderThatComesBackIsToldAgainIfSomebodyWaitsThen() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked holder = bench.repeat(stream, lease, holder());
    bench.createAll(holder);
    Asked waiter = waiter("w");
    // When
    bench.attach(lease);
    // Then: with a number of its own
    assertThat(told(holder)).containsExactly(ONE, ONE);
    assertThat(bench.tells("h").map(Effect.Tell::sequence)).containsExactly(1L, 2L, 3L, 4L);
    // When
    bench.release(waiter);
    bench.deleteAll(waiter);
    bench.attach(lease);
    // Then
    assertThat(told(holder)).hasSize(2);
  }

  @Test
  void lastRepetitionSaysWhetherTheHolderWantsToKnow() {
    // Given
    LeaseId lease = bench.lease();
    StreamId stream = bench.attach(lease);
    Asked holder = bench.repeat(stream, lease, Wish.named("h").exclusive("a"));
    bench.createAll(holder);
    waiter("w");
    // When
    bench.repeat(stream, lease, holder());
    // Then
    assertThat(told(holder)).containsExactly(ONE);
    // When
    bench.repeat(stream, lease, Wish.named("h").exclusive("a"));
    // Then
    assertThat(told(holder)).hasSize(1);
  }

  @Test
  void whoTakesALeaseOverTellsWhenTheClientHasRepeatedItsRequest() {
    // Given
    Inheritance left = new Inheritance(bench);
    LeaseId lease = left.lease();
    List<Long> tokens = left.entries(lease, holder());
    left.take();
    waiter("w");
    StreamId stream = bench.attach(lease);
    assertThat(bench.told("h", Notice.Contended.class)).isEmpty();
    // When
    bench.repeat(stream, lease, holder().holding(tokens.get(0)));
    // Then
    assertThat(bench.told("h", Notice.Contended.class)).containsExactly(ONE);
  }

  @Test
  void whoCameWhileZooKeeperWasOutOfReachIsToldAfterwards() {
    // Given
    Asked holder = bench.alone(holder());
    StoreEvent.CreatedEntry held = bench.created(holder);
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.RebuildStarted(Set.of(A)));
    Asked other = bench.ask(bench.lease(), Wish.named("w").exclusive("a"));
    StoreEvent.CreatedEntry waits = bench.entryOf(other);
    bench.answerCreated(other, waits);
    bench.on(
        new StoreEvent.QueueListed(
            A,
            List.of(
                new StoreEvent.ListedEntry(held.name(), Optional.of(held.czxid()), 0),
                new StoreEvent.ListedEntry(waits.name(), Optional.of(waits.czxid()), 0)),
            List.of()));
    assertThat(told(holder)).isEmpty();
    // When
    bench.on(new StoreEvent.MirrorCurrent());
    // Then
    assertThat(told(holder)).containsExactly(ONE);
  }

  @Test
  void freezeIsToldAlsoIfNobodyWaits() {
    // Given
    Asked holder = bench.alone(holder());
    Freeze freeze = new Freeze("a", "migration", "ops", Optional.empty());
    // When
    bench.on(new FreezeEvent.Appeared("a"));
    bench.on(new FreezeEvent.Read(freeze, bench.zxid()));
    // Then
    assertThat(told(holder))
        .singleElement()
        .satisfies(told -> assertThat(told.waiters()).isZero())
        .satisfies(told -> assertThat(told.frozen().orElseThrow().freeze()).isEqualTo(freeze));
  }

  @Test
  void nobodyIsToldWhoHasGivenItBack() {
    // Given
    Asked holder = bench.alone(holder());
    bench.release(holder);
    // When
    bench.foreign("a", new UUID(0x99, 7), MutexKind.EXCLUSIVE);
    bench.takenElsewhere("a");
    // Then
    assertThat(told(holder)).isEmpty();
  }
}
