package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Quota;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.server.core.state.AccountsCheck;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What one account keeps counts against it until it is gone, and leaves room for others.
 *
 * <p>On the bench a lease's record has 50 bytes of path, and an entry 100. A marker of lock "a" has
 * 256 bytes and those of its name.
 */
class SharedLimitsTest {

  private static final Duration DELAY = Duration.ofHours(1);
  private static final long NO_BYTES = Long.MAX_VALUE;

  private Bench bench = Bench.ready();
  private int numbers;

  @AfterEach
  void everythingIsCountedThatStands() {
    AccountsCheck.check(bench.kernel.core);
  }

  private record Limited(long pathBytes, int queuePlaces, int freezes) implements Quota {
    @Override
    public int leases() {
      return Integer.MAX_VALUE;
    }

    @Override
    public int acquisitions() {
      return Integer.MAX_VALUE;
    }

    @Override
    public long entryBytes() {
      return Long.MAX_VALUE;
    }

    @Override
    public int acquisitionsIn(String namespace) {
      return Integer.MAX_VALUE;
    }
  }

  private static Caller having(String account, long pathBytes) {
    return new Caller(account, false, account, new Limited(pathBytes, 100, 2));
  }

  private static Caller having(String account, int queuePlaces) {
    return new Caller(account, false, account, new Limited(NO_BYTES, queuePlaces, 2));
  }

  private CallId opening(Caller by, LeaseId lease) {
    CallId call = bench.call();
    bench.on(new ClientRequest(by, new ClientEvent.OpenLease(call, lease, "h", Bench.TTL, "me")));
    return call;
  }

  private LeaseId lease(Caller by) {
    LeaseId lease = new LeaseId((long) ++numbers << 32, numbers);
    opening(by, lease);
    bench.recorded(lease);
    return lease;
  }

  private Asked ask(Caller by, LeaseId lease, Wish wish) {
    AcquireCommand command = wish.command(Optional.of(lease));
    UUID id = new UUID(lease.high(), ++numbers);
    Asked asked =
        new Asked(bench.stream(), id, lease, command.requestId(), command.locks().get(0).name());
    bench.on(
        new ClientRequest(by, new ClientEvent.Acquire(asked.stream(), id, lease, command, false)));
    return asked;
  }

  private Asked ask(Caller by, LeaseId lease, String lock) {
    return ask(by, lease, Wish.named("r" + ++numbers).exclusive(lock));
  }

  private List<Failure.Reason> refusals(Asked asked) {
    return bench.refusals(asked.stream());
  }

  private CallId limit(Caller by, String lock, int limit) {
    CallId call = bench.call();
    bench.on(
        new ClientRequest(
            by, new ClientEvent.ConfigureLock(call, new LockName(lock), OptionalInt.of(limit))));
    return call;
  }

  /** The mirror shows the limit that was asked for last. */
  private void limitAppears() {
    List<StoreEffect.SetLimit> all = bench.all(StoreEffect.SetLimit.class);
    StoreEffect.SetLimit set = all.get(all.size() - 1);
    String text = MarkerName.Limit.prefix(set.limit().getAsInt(), set.account());
    bench.on(
        new StoreEvent.MarkerAppeared(
            set.lock(),
            MarkerName.parse(text + EntryName.suffix(all.size())).orElseThrow(),
            bench.zxid()));
  }

  /** A lease with a holder of a lock with a delay, which ends. */
  private void lose(Caller by, String lock) {
    LeaseId lease = lease(by);
    Asked holder = ask(by, lease, Wish.named("h" + lock).exclusive(lock).delaying(DELAY));
    bench.createAll(holder);
    bench.on(new ClientRequest(by, new ClientEvent.CloseLease(bench.call(), lease)));
    bench.deleteAll(holder);
    bench.erased(lease);
  }

  @Test
  void pathsOfRecordsAndEntriesAreLimitedAndWhatIsReleasedMakesRoom() {
    // Given: two records of 50 and an entry of 100
    Caller shop = having("shop", 240L);
    LeaseId lease = lease(shop);
    Asked held = ask(shop, lease(shop), "a");
    bench.create(held);
    // When
    Asked tooMuch = ask(shop, lease, "b");
    CallId third = opening(shop, new LeaseId(77L << 32, 77));
    // Then
    assertThat(refusals(tooMuch)).containsExactly(Failure.Reason.TOO_MANY);
    assertThat(bench.failure(third)).isEqualTo(Failure.Reason.TOO_MANY);
    // When
    bench.on(
        new ClientRequest(
            shop, new ClientEvent.Release(bench.call(), held.lease(), held.requestId(), 0)));
    bench.deleteAll(held);
    // Then
    assertThat(refusals(ask(shop, lease, "c"))).isEmpty();
  }

  @Test
  void oneAccountLeavesRoomForTheLeasesOfOthersInThePoolOfSessions() {
    // Given: two sessions of 800 bytes, of which 800 are for new leases
    bench = Bench.ready(SessionPoolTest.small(2));
    bench.opened(Bench.S2);
    Caller greedy = having("greedy", 700L);
    for (int i = 0; i < 20; i++) {
      LeaseId lease = new LeaseId((long) ++numbers << 32, numbers);
      CallId call = opening(greedy, lease);
      if (bench.answers(call).isEmpty()) {
        bench.recorded(lease);
        ask(greedy, lease, "x" + i);
      }
    }
    // When
    CallId other = opening(having("other", 700L), new LeaseId(77L << 32, 77));
    // Then
    bench.recorded(new LeaseId(77L << 32, 77));
    assertThat(bench.answer(other)).isInstanceOf(Answer.LeaseOpened.class);
  }

  @Test
  void delaysOfLostHoldersCountForTheirAccountUntilTheyAreOver() {
    // Given: a guard, and nothing else
    Caller greedy = having("greedy", 400L);
    lose(greedy, "a");
    assertThat(bench.counts().leases()).isZero();
    // When
    LeaseId lease = lease(greedy);
    Asked tooMuch = ask(greedy, lease, "b");
    Asked others = ask(having("other", 400L), lease(having("other", 400L)), "c");
    // Then
    assertThat(refusals(tooMuch)).containsExactly(Failure.Reason.TOO_MANY);
    assertThat(refusals(others)).isEmpty();
    // When
    bench.keepAliveFor(lease, DELAY);
    StoreEffect.RemoveGuard removed = bench.all(StoreEffect.RemoveGuard.class).get(0);
    bench.on(new StoreEvent.MarkerVanished(removed.lock(), removed.guard(), bench.zxid()));
    // Then
    Caller keepingUp = having("greedy", 400L);
    assertThat(refusals(ask(keepingUp, lease(keepingUp), "d"))).isEmpty();
  }

  @Test
  void restartedCoordinatorCountsMarkersForWhomTheirNamesSay() {
    // Given: nothing but a listing
    MarkerName guard =
        MarkerName.Guard.of(new UUID(1, 1), (int) DELAY.toMillis(), AccountTag.of("greedy"));
    bench.on(new StoreEvent.MirrorStale());
    bench.on(new StoreEvent.QueueListed(new LockName("a"), List.of(), List.of(guard)));
    bench.on(new StoreEvent.MirrorCurrent());
    // When
    CallId greedy = opening(having("greedy", 300L), new LeaseId(77L << 32, 77));
    CallId other = opening(having("other", 300L), new LeaseId(78L << 32, 78));
    // Then
    assertThat(bench.failure(greedy)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(bench.answers(other)).isEmpty();
    assertThat(bench.counts().locks()).isEqualTo(1);
  }

  @Test
  void entrySaysForWhomItsGuardCountsAndWhoAdoptsItReleasesTheGuardWithIt() {
    // Given
    Caller shop = having("shop", NO_BYTES);
    Asked asked = ask(shop, lease(shop), Wish.named("h").exclusive("a").delaying(DELAY));
    Inheritance left = new Inheritance(bench);
    LeaseId adopted = left.lease();
    left.entries(adopted, Wish.named("held").exclusive("b").delaying(DELAY));
    left.take();
    bench.attach(adopted);
    // When
    bench.on(new ClientEvent.Release(bench.call(), adopted, "held", 0));
    // Then
    assertThat(bench.planned(asked).details().terms().guardAccount())
        .isEqualTo(AccountTag.of("shop"));
    assertThat(bench.deletions().get(0).entries().get(0).guard().orElseThrow())
        .startsWith("delay-3600000-" + Inheritance.TAG + "-");
  }

  @Test
  void adoptedLeaseOfNobodyCountsForWhoUsesItFirst() {
    // Given
    Inheritance left = new Inheritance(bench);
    LeaseId adopted = left.lease();
    left.entries(adopted, Wish.named("held").exclusive("a"));
    left.take();
    Caller address = new Caller("", false, "10.0.0.7", new Limited(240, 100, 2));
    // When: its record and its entry take 150
    bench.on(
        new ClientRequest(
            address, new ClientEvent.AttachLease(bench.call(), adopted, "hash", bench.stream())));
    Asked tooMuch = ask(address, adopted, "b");
    // Then
    assertThat(refusals(tooMuch)).containsExactly(Failure.Reason.TOO_MANY);
  }

  @Test
  void adoptedLeaseOfNobodyCountsNeitherForAnOperatorNorForWhoAsksForARelease() {
    // Given
    Inheritance left = new Inheritance(bench);
    LeaseId one = left.lease();
    left.entries(one, Wish.named("held").exclusive("a"));
    LeaseId two = left.lease();
    left.entries(two, Wish.named("held").exclusive("b"));
    left.take();
    Caller operator = new Caller("ops", true, "ops", new Limited(160, 100, 2));
    Caller address = new Caller("", false, "10.0.0.7", new Limited(160, 100, 2));
    // When: the record and the entry of each take 150
    bench.on(new ClientRequest(operator, new ClientEvent.KeepAlive(bench.call(), one)));
    bench.on(new ClientRequest(address, new ClientEvent.Release(bench.call(), two, "unknown", 0)));
    // Then
    assertThat(bench.answers(opening(operator, new LeaseId(77L << 32, 77)))).isEmpty();
    assertThat(bench.answers(opening(address, new LeaseId(78L << 32, 78)))).isEmpty();
  }

  @Test
  void configuredLimitsCountForWhoSetThem() {
    // Given
    Caller other = having("other", 700L);
    limit(other, "of-other", 5);
    limitAppears();
    Caller greedy = having("greedy", 700L);
    limit(greedy, "a", 5);
    limitAppears();
    limit(greedy, "b", 5);
    limitAppears();
    limit(greedy, "c", 5);
    limitAppears();
    // When
    CallId tooMuch = limit(greedy, "d", 5);
    CallId change = limit(greedy, "a", 6);
    CallId takenOver = limit(greedy, "of-other", 6);
    CallId others = limit(other, "d", 5);
    // Then
    assertThat(bench.failure(tooMuch)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(bench.answers(change)).isEmpty();
    assertThat(bench.failure(takenOver)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(bench.answers(others)).isEmpty();
  }

  private static CoreSettings withNames(long nameBytes) {
    CoreSettings defaults = CoreSettings.defaults();
    return new CoreSettings(
        defaults.tick(),
        10,
        100,
        512 << 10,
        8,
        8L << 20,
        64L << 20,
        1_000,
        nameBytes,
        defaults.linger(),
        true,
        defaults.sendAwayAfter());
  }

  @Test
  void locksWithMarkersAloneCountAmongTheNamesInUse() {
    // Given: names of five bytes each
    bench = Bench.ready(withNames(10));
    Caller shop = new Caller("", false, "shop", Quota.UNLIMITED);
    limit(shop, "a", 5);
    limitAppears();
    limit(shop, "b", 5);
    limitAppears();
    // When
    CallId limit = limit(shop, "c", 5);
    Asked asked = ask(shop, lease(shop), "c");
    // Then
    assertThat(bench.failure(limit)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(refusals(asked)).containsExactly(Failure.Reason.TOO_MANY);
  }

  @Test
  void secondHalfOfWhatTheClusterMayHaveIsNotForOneAccount() {
    // Given: half of the names of 40 bytes are in use; 3200 bytes of paths are a few here
    bench = Bench.ready(withNames(40));
    Caller greedy = having("greedy", 3_200L);
    LeaseId lease = lease(greedy);
    for (String name : List.of("a", "b", "c", "d")) {
      bench.create(ask(greedy, lease, name));
    }
    // When
    Asked tooMuch = ask(greedy, lease, "e");
    Caller other = having("other", 3_200L);
    Asked others = ask(other, lease(other), "e");
    // Then
    assertThat(refusals(tooMuch)).containsExactly(Failure.Reason.TOO_MANY);
    assertThat(refusals(others)).isEmpty();
  }

  private CallId freeze(Caller by, String prefix) {
    CallId call = bench.call();
    bench.on(new ClientRequest(by, new ClientEvent.Freeze(call, Freeze.unread(prefix, ""))));
    return call;
  }

  @Test
  void freezesCountForTheAccountThatTheirRecordsName() {
    // Given: one that was read, and one on its way
    Caller greedy = having("greedy", NO_BYTES);
    freeze(greedy, "a");
    StoreEffect.SetFreeze set = bench.all(StoreEffect.SetFreeze.class).get(0);
    bench.on(new FreezeEvent.Answered(set.number(), FreezeEvent.Outcome.DONE));
    bench.on(new FreezeEvent.Appeared("a"));
    bench.on(new FreezeEvent.Read(set.freeze(), bench.zxid()));
    freeze(greedy, "b");
    // When
    CallId tooMany = freeze(greedy, "c");
    CallId replaced = freeze(greedy, "a");
    CallId others = freeze(having("other", NO_BYTES), "c");
    // Then
    assertThat(bench.failure(tooMany)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(bench.answers(replaced)).isEmpty();
    assertThat(bench.answers(others)).isEmpty();
    assertThat(set.freeze().account()).isEqualTo(AccountTag.of("greedy"));
  }

  @Test
  void prefixesThatAreBeingThawedTakeNoRoomOfThoseThatAreBeingFrozen() {
    // Given
    for (int i = 0; i < 1_000; i++) {
      bench.on(new ClientEvent.Unfreeze(bench.call(), "p" + i));
    }
    // When
    CallId frozen = freeze(having("shop", NO_BYTES), "a");
    // Then
    assertThat(bench.answers(frozen)).isEmpty();
  }

  private CallId force(Caller by, String lock, Duration grace) {
    CallId call = bench.call();
    RevocationRequest ask = new RevocationRequest("f", "ops", "", Optional.of(grace), true);
    bench.on(new ClientRequest(by, new ClientEvent.ForceRelease(call, new LockName(lock), 0, ask)));
    return call;
  }

  @Test
  void forcedReleasesThatWaitAreLimitedForEachAccountAndOneOfTheSameHolderCountsOnce() {
    // Given: two may wait
    Caller greedy = having("greedy", NO_BYTES);
    List<String> locks = List.of("a", "b", "c");
    locks.forEach(lock -> bench.alone(Wish.named(lock).exclusive(lock)));
    // When
    List<CallId> same =
        List.of(
            force(greedy, "a", Duration.ofSeconds(3)),
            force(greedy, "a", Duration.ofSeconds(5)),
            force(greedy, "a", Duration.ofSeconds(4)));
    CallId second = force(greedy, "b", Duration.ofSeconds(5));
    CallId third = force(greedy, "c", Duration.ofSeconds(5));
    CallId others = force(having("other", NO_BYTES), "c", Duration.ofSeconds(5));
    // Then
    assertThat(same).allSatisfy(call -> assertThat(bench.answer(call)).isEqualTo(forced()));
    assertThat(bench.answer(second)).isEqualTo(forced());
    assertThat(bench.failure(third)).isEqualTo(Failure.Reason.TOO_MANY);
    assertThat(bench.answer(others)).isEqualTo(forced());
    assertThat(bench.told("a").stream().filter(Notice.ReleaseRequested.class::isInstance))
        .hasSize(1);
    // When: their time is over
    bench.pass(Duration.ofSeconds(5));
    // Then
    assertThat(bench.told("a").stream().filter(Notice.Lost.class::isInstance)).hasSize(1);
    bench.alone(Wish.named("d").exclusive("d"));
    assertThat(bench.answer(force(greedy, "d", Duration.ofSeconds(5)))).isEqualTo(forced());
  }

  private static Answer.Forced forced() {
    return new Answer.Forced(0, 1, 0);
  }

  @Test
  void oneAccountTakesNoMoreThanHalfOfAQueueAndItsPlacesInTheRest() {
    // Given: a queue of ten, of which the account has half
    bench = Bench.ready(withNames(1_000));
    Caller greedy = having("greedy", 3);
    LeaseId lease = lease(greedy);
    for (int i = 0; i < 5; i++) {
      bench.create(ask(greedy, lease, "a"));
    }
    // When
    Asked tooMuch = ask(greedy, lease, "a");
    Asked elsewhere = ask(greedy, lease, "b");
    Caller other = having("other", 3);
    Asked others = ask(other, lease(other), "a");
    // Then
    assertThat(refusals(tooMuch)).containsExactly(Failure.Reason.QUEUE_FULL);
    assertThat(refusals(elsewhere)).isEmpty();
    assertThat(refusals(others)).isEmpty();
  }

  @Test
  void levelsOfOneHoldTakeNoMorePlacesThanOtherEntries() {
    // Given: a queue of ten, of which an owner has half by holding the lock again and again
    bench = Bench.ready(withNames(1_000));
    Caller greedy = having("greedy", 3);
    LeaseId lease = lease(greedy);
    for (int i = 0; i < 5; i++) {
      bench.createAll(ask(greedy, lease, Wish.named("r" + i).exclusive("a").by("me")));
    }
    // When
    Asked tooMuch = ask(greedy, lease, Wish.named("more").exclusive("a").by("me"));
    // Then
    assertThat(refusals(tooMuch)).containsExactly(Failure.Reason.QUEUE_FULL);
  }
}
