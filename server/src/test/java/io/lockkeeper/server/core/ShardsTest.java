package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A coordinator grants only what its ensemble's shard serves. */
class ShardsTest {

  private static final Duration LONG = Duration.ofHours(1);
  private final Bench bench = Bench.ready();
  private long version;

  /** A table of the shards a, which this is, and b: where "n" is, and where it goes. */
  private ShardRecord record(String shard, int epochs, Optional<String> to) {
    TreeMap<String, Shard> shards = new TreeMap<>();
    shards.put("a", new Shard("a", List.of("a:1"), true, 0));
    shards.put("b", new Shard("b", List.of("b:1", "b:2"), false, 0));
    return new ShardRecord(
        "a",
        new ShardTable(
            ++version,
            "a",
            shards,
            new TreeMap<>(Map.of("n", new ShardTable.Placed(shard, epochs))),
            new TreeMap<>(to.map(id -> Map.of("n", id)).orElse(Map.of())),
            "",
            "service"));
  }

  private void read(ShardRecord record) {
    bench.on(new ShardEvent.Changed());
    bench.on(new ShardEvent.Read(Optional.of(record), bench.zxid()));
  }

  private void here() {
    read(record("a", 0, Optional.empty()));
  }

  private void moving() {
    read(record("a", 0, Optional.of("b")));
  }

  private void elsewhere() {
    read(record("b", 0, Optional.empty()));
  }

  private Asked ask(String name, String lock) {
    return bench.askAndCreate(bench.lease(LONG), Wish.named(name).exclusive(lock));
  }

  private Asked only(String name, String... locks) {
    Wish wish = Wish.named(name);
    for (String lock : locks) {
      wish = wish.exclusive(lock);
    }
    return bench.ask(bench.lease(LONG), wish);
  }

  private Failure refusal(Asked asked) {
    return bench.all(Effect.Refuse.class).stream()
        .filter(refuse -> refuse.stream().equals(asked.stream()))
        .map(Effect.Refuse::failure)
        .findFirst()
        .orElseThrow();
  }

  private boolean isRefused(Asked asked) {
    return !bench.refusals(asked.stream()).isEmpty();
  }

  @Test
  void whatAnotherShardServesIsRefusedWithItsAddresses() {
    // Given
    elsewhere();
    // When
    Asked asked = only("x", "n/1");
    // Then
    Failure refusal = refusal(asked);
    assertThat(refusal.reason()).isEqualTo(Failure.Reason.WRONG_SHARD);
    assertThat(refusal.wrongShard().orElseThrow().shard().addresses())
        .containsExactly("b:1", "b:2");
    assertThat(refusal.wrongShard().orElseThrow().tableVersion()).isEqualTo(version);
    assertThat(refusal.message()).contains("'n'", "'b'", "b:1, b:2");
    assertThat(bench.all(StoreEffect.CreateEntries.class)).isEmpty();
  }

  @Test
  void whatTheTableDoesNotNameIsServedByTheHashedShard() {
    elsewhere();
    assertThat(bench.wasGranted(ask("x", "m/1"))).isTrue();
  }

  @Test
  void locksOfSeveralShardsAreRefusedByName() {
    // Given
    elsewhere();
    // When
    Asked asked = only("x", "m/1", "n/1");
    // Then
    assertThat(refusal(asked).reason()).isEqualTo(Failure.Reason.ACROSS_SHARDS);
    assertThat(refusal(asked).message()).contains("'m/1'", "'n/1'", "'a'", "'b'");
  }

  @Test
  void callsAboutALockOfAnotherShardAreRefused() {
    // Given
    elsewhere();
    LockName lock = new LockName("n/1");
    RevocationRequest ask = new RevocationRequest("id", "me", "why", Optional.empty(), false);
    // When
    List<CallId> calls = List.of(bench.call(), bench.call(), bench.call(), bench.call());
    bench.on(new ClientEvent.CheckToken(calls.get(0), lock, 1));
    bench.on(new ClientEvent.RequestRelease(calls.get(1), lock, ask));
    bench.on(new ClientEvent.ForceRelease(calls.get(2), lock, 0, ask));
    bench.on(new ClientEvent.ConfigureLock(calls.get(3), lock, OptionalInt.of(3)));
    // Then
    assertThat(calls).extracting(bench::failure).containsOnly(Failure.Reason.WRONG_SHARD);
  }

  @Test
  void limitIsSetAheadAtTheShardToWhichANamespaceMoves() {
    // Given
    ShardRecord coming = record("b", 0, Optional.of("a"));
    read(coming);
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.ConfigureLock(call, new LockName("n/1"), OptionalInt.of(3)));
    // Then
    assertThat(bench.answers(call)).isEmpty();
    assertThat(bench.all(StoreEffect.SetLimit.class)).hasSize(1);
  }

  @Test
  void waitEndsWhenItsNamespaceMovesAndTheHolderGoesOn() {
    // Given
    here();
    Asked holder = ask("h", "n/1");
    Asked waiter = ask("w", "n/1");
    Asked other = ask("o", "m/1");
    Asked behind = ask("p", "m/1");
    // When
    moving();
    // Then
    assertThat(bench.ending(waiter).reason()).isEqualTo(Notice.RefusalReason.NAMESPACE_MOVED);
    assertThat(bench.ending(waiter).message()).contains("'n'", "'b'");
    assertThat(bench.told(holder, Notice.NotAcquired.class)).isEmpty();
    assertThat(bench.told(holder, Notice.Lost.class)).isEmpty();
    assertThat(bench.told(behind, Notice.NotAcquired.class)).isEmpty();
    bench.release(other);
    bench.deleteAll(other);
    assertThat(bench.wasGranted(behind)).isTrue();
  }

  @Test
  void whileANamespaceMovesNobodyNewIsLetInButAnOwnerThatHolds() {
    // Given
    here();
    LeaseId lease = bench.lease(LONG);
    bench.askAndCreate(lease, Wish.named("one").by("o").exclusive("n/1"));
    moving();
    // When
    Asked again = bench.askAndCreate(lease, Wish.named("two").by("o").exclusive("n/1"));
    final Asked fresh = only("x", "n/2");
    Wish guarded = Wish.named("three").by("o").exclusive("n/1").delaying(Duration.ofSeconds(5));
    Asked delayed = bench.ask(lease, guarded);
    // Then
    assertThat(bench.granted(again).grants().get(0).holdCount()).isEqualTo(2);
    assertThat(refusal(fresh).reason()).isEqualTo(Failure.Reason.NAMESPACE_MOVING);
    assertThat(refusal(delayed).reason()).isEqualTo(Failure.Reason.NAMESPACE_MOVING);
  }

  @Test
  void requestThatWasUnderWayWhenTheTableChangedIsNotGranted() {
    // Given
    here();
    Asked asked = only("x", "n/1");
    // When
    moving();
    bench.createAll(asked);
    bench.pass(Duration.ofSeconds(2));
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    assertThat(bench.ending(asked).reason()).isEqualTo(Notice.RefusalReason.NAMESPACE_MOVED);
  }

  @Test
  void nobodyIsGrantedAnythingUntilAChangedTableWasRead() {
    // Given
    here();
    // When
    bench.on(new ShardEvent.Changed());
    Asked asked = ask("x", "n/1");
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    // When
    bench.on(new ShardEvent.Read(Optional.of(record("a", 0, Optional.empty())), bench.zxid()));
    // Then
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void tableThatCannotBeReadStopsAllGrantsAndSaysSo() {
    // Given
    here();
    // When
    bench.on(new ShardEvent.Changed());
    bench.on(new ShardEvent.Read(Optional.empty(), bench.zxid()));
    Asked asked = ask("x", "n/1");
    // Then
    assertThat(bench.wasGranted(asked)).isFalse();
    FreezeView why = bench.kernel.lock(new LockName("n/1"), 1, bench.now).frozen().orElseThrow();
    assertThat(why.freeze().reason()).contains("cannot be read");
  }

  @Test
  void tableThatHasGoneOrIsOlderIsPutBackAndNobodyIsGrantedAnythingUntilThen() {
    // Given
    here();
    ShardRecord older = record("a", 0, Optional.empty());
    ShardRecord newest = record("b", 0, Optional.empty());
    read(newest);
    for (ShardRecord there : List.of(ShardRecord.NONE, older)) {
      // When
      read(there);
      // Then
      assertThat(bench.kernel.shards().record()).isEmpty();
      long old = there.table().version();
      assertThat(refusal(only("x" + old, "n/1")).reason()).isEqualTo(Failure.Reason.WRONG_SHARD);
      Asked asked = ask("y" + old, "m/1");
      assertThat(bench.wasGranted(asked)).isFalse();
      List<StoreEffect.SetShards> back = bench.all(StoreEffect.SetShards.class);
      assertThat(back.get(back.size() - 1).record()).isEqualTo(newest);
      assertThat(back.get(back.size() - 1).expectedVersion()).isEqualTo(old);
      // When
      read(newest);
      // Then
      assertThat(bench.wasGranted(asked)).isTrue();
      bench.release(asked);
      bench.deleteAll(asked);
    }
  }

  @Test
  void tableThatHasGoneAfterNobodyCouldReadItIsNotTakenForNone() {
    // Given: a coordinator that has just started
    bench.on(new ShardEvent.Read(Optional.empty(), 0));
    // When
    read(ShardRecord.NONE);
    // Then
    Asked asked = ask("x", "m/1");
    assertThat(bench.wasGranted(asked)).isFalse();
    // When
    here();
    // Then
    assertThat(bench.wasGranted(asked)).isTrue();
  }

  @Test
  void freezesAndLimitsOfWhatIsElsewhereOrOnItsWayAreRefused() {
    // Given
    moving();
    CallId limit = bench.call();
    CallId freeze = bench.call();
    Freeze frozen = new Freeze("n/1", "why", "me", Optional.empty());
    // When
    bench.on(new ClientEvent.ConfigureLock(limit, new LockName("n/1"), OptionalInt.of(3)));
    bench.on(new ClientEvent.Freeze(freeze, frozen));
    // Then
    assertThat(List.of(limit, freeze))
        .extracting(bench::failure)
        .containsOnly(Failure.Reason.NAMESPACE_MOVING);
    // When
    elsewhere();
    CallId thaw = bench.call();
    bench.on(new ClientEvent.Unfreeze(thaw, "n/"));
    // Then
    assertThat(bench.failure(thaw)).isEqualTo(Failure.Reason.WRONG_SHARD);
  }

  @Test
  void tokensHaveTheEpochsOfTheTable() {
    // Given
    read(record("a", 7, Optional.empty()));
    // When
    Asked named = ask("x", "n/1");
    Asked other = ask("y", "m/1");
    // Then
    long epochs =
        (bench.granted(named).grants().get(0).token().czxid() >>> Integer.SIZE)
            - (bench.granted(other).grants().get(0).token().czxid() >>> Integer.SIZE);
    assertThat(epochs).isEqualTo(7);
  }

  @Test
  void entryFromBeforeItsNamespaceWasAwayIsNeverGranted() {
    // Given: the table comes and goes while ZooKeeper creates it
    here();
    Asked late = only("x", "n/1");
    read(record("a", 2, Optional.empty()));
    // When
    bench.createAll(late);
    bench.pass(Duration.ofSeconds(2));
    // Then
    assertThat(bench.wasGranted(late)).isFalse();
    assertThat(bench.ending(late).reason()).isEqualTo(Notice.RefusalReason.NAMESPACE_MOVED);
    bench.deleteAll(late);
    assertThat(bench.wasGranted(ask("y", "n/1"))).isTrue();
  }

  @Test
  void emptyMeansThatNothingIsLeftAfterABarrier() {
    // Given
    here();
    Asked holder = ask("h", "n/1");
    ask("o", "m/1");
    CallId before = listed(Optional.of("n"));
    CallId all = listed(Optional.empty());
    // When
    bench.release(holder);
    bench.vanish(bench.created(holder));
    CallId after = listed(Optional.of("n"));
    // Then
    assertThat(entries(before)).isEqualTo(Map.of("n", 1));
    assertThat(entries(all)).isEqualTo(Map.of("m", 1, "n", 1));
    assertThat(entries(after)).isEqualTo(Map.of("n", 0));
  }

  private CallId listed(Optional<String> namespace) {
    CallId call = bench.call();
    bench.on(new ClientEvent.ListNamespaces(call, namespace));
    assertThat(bench.answers(call)).isEmpty();
    List<StoreEffect.Barrier> barriers = bench.all(StoreEffect.Barrier.class);
    bench.on(new StoreEvent.BarrierPassed(barriers.get(barriers.size() - 1).barrier()));
    return call;
  }

  private Map<String, Integer> entries(CallId call) {
    return ((Answer.NamespacesListed) bench.answer(call)).entries();
  }

  @Test
  void tableIsReplacedOnceAndByNobodyWhoTakesTheEnsembleForAnother() {
    // Given
    here();
    CallId other = bench.call();
    ShardRecord wrong = new ShardRecord("b", record("a", 0, Optional.empty()).table());
    CallId stranger = bench.call();
    ShardTable table = record("a", 0, Optional.empty()).table();
    ShardRecord strange =
        new ShardRecord(
            "a",
            new ShardTable(
                table.version(),
                "a",
                table.shards(),
                table.namespaces(),
                table.moves(),
                "",
                "another"));
    ShardRecord next = record("b", 0, Optional.empty());
    CallId call = bench.call();
    // When
    bench.on(new ClientEvent.SetShards(other, 1, wrong));
    bench.on(new ClientEvent.SetShards(stranger, 1, strange));
    bench.on(new ClientEvent.SetShards(call, 1, next));
    // Then
    assertThat(bench.failure(other)).isEqualTo(Failure.Reason.SHARDS_CHANGED);
    assertThat(bench.failure(stranger)).isEqualTo(Failure.Reason.SHARDS_CHANGED);
    StoreEffect.SetShards effect = bench.all(StoreEffect.SetShards.class).get(0);
    assertThat(effect.record()).isEqualTo(next);
    assertThat(effect.expectedVersion()).isEqualTo(1);
    // When
    bench.on(new ShardEvent.Answered(effect.number(), ShardEvent.Outcome.CHANGED, 0));
    // Then
    assertThat(bench.failure(call)).isEqualTo(Failure.Reason.SHARDS_CHANGED);
  }

  @Test
  void withoutATableNothingIsRefused() {
    // Given
    bench.on(new ShardEvent.Read(Optional.of(ShardRecord.NONE), 0));
    // Then
    assertThat(isRefused(only("x", "m/1", "n/1"))).isFalse();
  }
}
