package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What the kinds of locks, several locks at once and owners mean to a client. */
public abstract class KindsContract extends Contract {

  private LockRequest read() {
    return LockRequest.of(LockSpec.read(lock));
  }

  private LockRequest write() {
    return LockRequest.of(LockSpec.write(lock));
  }

  private LockRequest permits(int count, int limit) {
    return LockRequest.of(LockSpec.permits(lock, count, limit));
  }

  private static RequestRefusedException refusal(CompletableFuture<LockHandle> refused) {
    assertThat(failure(refused)).isInstanceOf(RequestRefusedException.class);
    return (RequestRefusedException) failure(refused);
  }

  private static NotAcquiredException notAcquired(CompletableFuture<LockHandle> refused) {
    assertThat(failure(refused)).isInstanceOf(NotAcquiredException.class);
    return (NotAcquiredException) failure(refused);
  }

  @Test
  void readersShareAndTheirTokensAreTheirOwn() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    // When
    LockHandle first = a.lock(read());
    LockHandle second = client("b").lock(read());
    // Then
    assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    assertThat(first.isValid()).isTrue();
    assertThat(a.getLock(lock).holders()).hasSize(2);
    assertThat(client("c").tryLock(write().waitAtMost(Duration.ZERO))).isEmpty();
  }

  @Test
  void readerThatComesAfterAWaitingWriterWaitsBehindIt() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle reading = a.lock(read());
    CompletableFuture<LockHandle> writer = queue(client("b"), write(), lock);
    CompletableFuture<LockHandle> reader = queue(client("c"), read(), lock);
    // When
    reading.close();
    // Then
    LockHandle writing = granted(writer);
    assertThat(reader).isNotDone();
    writing.close();
    assertThat(granted(reader).isValid()).isTrue();
  }

  @Test
  void writerMayReadAndThenLetTheWriteGoWhileAnotherWriterWaits() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle writing = a.lock(write().owner("task"));
    CompletableFuture<LockHandle> other = queue(client("b"), write(), lock);
    CompletableFuture<LockHandle> reader = queue(client("c"), read(), lock);
    // When
    LockHandle reading = a.lock(read().owner("task"));
    ReleaseResult released = writing.releaseForResult().join();
    // Then
    assertThat(reading.fencingToken()).isEqualTo(writing.fencingToken());
    assertThat(released.outcome()).isEqualTo(ReleaseResult.Outcome.RELEASED);
    assertThat(reading.isValid()).isTrue();
    assertThat(a.getLock(lock).holders()).extracting(Contender::mode).containsOnly(LockMode.READ);
    assertThat(other).isNotDone();
    assertThat(reader).isNotDone();
    reading.close();
    granted(other).close();
    assertThat(granted(reader).isValid()).isTrue();
  }

  @Test
  void writerThatAlsoReadsAdmitsTheNextReaderWhenItStopsWriting() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle writing = a.lock(write().owner("task"));
    a.lock(read().owner("task")).close();
    CompletableFuture<LockHandle> next = queue(client("b"), read(), lock);
    LockHandle reading = a.lock(read().owner("task"));
    // When
    writing.close();
    // Then
    assertThat(granted(next).isValid()).isTrue();
    assertThat(reading.isValid()).isTrue();
  }

  @Test
  void readerThatWantsToWriteIsRefusedAtOnce() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle reading = a.lock(read().owner("task"));
    // When
    NotAcquiredException refused = notAcquired(a.acquire(write().owner("task")));
    // Then
    assertThat(refused.reason()).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
    assertThat(refused).hasMessageContaining(lock);
    assertThat(reading.isValid()).isTrue();
    assertThat(a.getLock(lock).queueLength()).isZero();
  }

  @Test
  void anotherOwnerOfTheSameClientIsNoReaderThatWantsToWrite() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle reading = a.lock(read().owner("one"));
    CompletableFuture<LockHandle> writer = queue(a, write().owner("two"), lock);
    // When
    reading.close();
    // Then
    assertThat(granted(writer).isValid()).isTrue();
  }

  @Test
  void ownerHoldsOnceMoreWithTheSameTokenUntilAllLevelsAreReleased() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    LockHandle outer = a.lock(LockRequest.of(lock).owner("task"));
    // When
    LockHandle inner = a.lock(LockRequest.of(lock).owner("task"));
    ReleaseResult first = outer.releaseForResult().join();
    Optional<LockHandle> between = b.tryLock(lock);
    ReleaseResult second = inner.releaseForResult().join();
    // Then
    assertThat(outer.holdCount()).isEqualTo(1);
    assertThat(inner.holdCount()).isEqualTo(2);
    assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
    assertThat(first).isEqualTo(new ReleaseResult(ReleaseResult.Outcome.DECREMENTED, 1));
    assertThat(between).isEmpty();
    assertThat(second).isEqualTo(new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
    assertThat(b.tryLock(lock)).isPresent();
  }

  @Test
  void everyLevelIsListedAndWatchedByItselfWithTheSameToken() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle outer = a.lock(LockRequest.of(lock).owner("task"));
    RecordingWatch seen = new RecordingWatch();
    try (Watch watch = a.watch(lock, seen)) {
      await().until(() -> seen.events().contains("end"));
      // When
      LockHandle inner = a.lock(LockRequest.of(lock).owner("task"));
      // Then
      await()
          .untilAsserted(
              () ->
                  assertThat(a.getLock(lock).holders())
                      .extracting(holder -> holder.fencingToken().orElseThrow())
                      .containsExactly(outer.fencingToken(), inner.fencingToken()));
      await().until(() -> seen.events().contains("GRANTED " + lock));
      inner.close();
      await().until(() -> seen.events().contains("RELEASED " + lock));
      assertThat(a.getLock(lock).holders()).hasSize(1);
      assertThat(outer.isValid()).isTrue();
    }
  }

  @Test
  void levelThatWaitsForAnotherLockKeepsTheLockButIsNoHoldYet() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    String other = lock + "/other";
    LockHandle outer = a.lock(LockRequest.of(lock).owner("task"));
    LockHandle stranger = b.lock(other);
    LockRequest both =
        LockRequest.of(LockSpec.exclusive(lock), LockSpec.exclusive(other)).owner("task");
    CompletableFuture<LockHandle> waiting = queue(a, both, other);
    // When
    ReleaseResult released = outer.releaseForResult().join();
    Optional<LockHandle> between = b.tryLock(lock);
    stranger.close();
    // Then
    assertThat(released).isEqualTo(new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
    assertThat(between).isEmpty();
    assertThat(granted(waiting).grants()).extracting(LockGrant::holdCount).containsExactly(1, 1);
    assertThat(granted(waiting).fencingToken()).isEqualTo(outer.fencingToken());
  }

  @Test
  void ownersExcludeEachOtherAndSoDoClientsWithTheSameOwner() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    a.lock(LockRequest.of(lock).owner("task"));
    LockRequest tried = LockRequest.of(lock).waitAtMost(Duration.ZERO);
    // When
    Optional<LockHandle> otherOwner = a.tryLock(tried.owner("other"));
    Optional<LockHandle> noOwner = a.tryLock(tried);
    Optional<LockHandle> otherClient = client("b").tryLock(tried.owner("task"));
    // Then
    assertThat(otherOwner).isEmpty();
    assertThat(noOwner).isEmpty();
    assertThat(otherClient).isEmpty();
  }

  @Test
  void permitsAreTakenAtOnceAndNobodyIsOvertaken() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle two = a.lock(permits(2, 3));
    CompletableFuture<LockHandle> many = queue(client("b"), permits(2, 3), lock);
    CompletableFuture<LockHandle> few = queue(client("c"), permits(1, 3), lock);
    // When
    two.close();
    // Then
    assertThat(granted(many).fencingToken()).isNotEqualTo(granted(few).fencingToken());
    assertThat(a.getLock(lock).holders()).extracting(Contender::permits).containsExactly(2, 1);
  }

  @Test
  void ownerTakesPermitsOfItsOwnEachTime() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    // When
    LockHandle first = a.lock(permits(1, 2).owner("task"));
    LockHandle second = a.lock(permits(1, 2).owner("task"));
    NotAcquiredException third = notAcquired(a.acquire(permits(1, 2).owner("task")));
    // Then
    assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    assertThat(second.holdCount()).isEqualTo(1);
    assertThat(third.reason()).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
  }

  @Test
  void limitIsWhatTheQueueSaysAndAnotherIsRefusedByName() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    RequestRefusedException unknown = refusal(a.acquire(LockRequest.of(LockSpec.permits(lock, 1))));
    a.lock(permits(1, 3));
    // When
    LockHandle asKnown = a.lock(LockRequest.of(LockSpec.permits(lock, 2)));
    RequestRefusedException other = refusal(a.acquire(permits(1, 5)));
    // Then
    assertThat(unknown.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(asKnown.isValid()).isTrue();
    assertThat(other.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(other).hasMessageContaining("3").hasMessageContaining("5");
  }

  @Test
  void limitThatGrowsLetsWaitersInAndOneThatShrinksTakesNothingAway() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    a.configureLock(lock, 2);
    LockHandle held = a.lock(LockRequest.of(LockSpec.permits(lock, 2)));
    CompletableFuture<LockHandle> waiting =
        queue(client("b"), LockRequest.of(LockSpec.permits(lock, 2)), lock);
    // When
    int before = a.configureLock(lock, 4).orElse(0);
    LockHandle next = granted(waiting);
    CompletableFuture<LockHandle> tooMany =
        queue(client("c"), LockRequest.of(LockSpec.permits(lock, 3)), lock);
    a.configureLock(lock, 1);
    // Then
    assertThat(before).isEqualTo(2);
    assertThat(notAcquired(tooMany).reason()).isEqualTo(NotAcquiredReason.LIMIT_TOO_SMALL);
    assertThat(next.isValid()).isTrue();
    assertThat(held.isValid()).isTrue();
    assertThat(a.getLock(lock).configuredLimit()).hasValue(1);
    NotAcquiredException more = notAcquired(a.acquire(LockRequest.of(LockSpec.permits(lock, 2))));
    assertThat(more.reason()).isEqualTo(NotAcquiredReason.LIMIT_TOO_SMALL);
    a.configureLock(lock, 0);
    assertThat(a.getLock(lock).configuredLimit()).isEmpty();
  }

  @Test
  void anotherKindThanTheLockIsInUseAsIsRefused() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    a.lock(lock);
    // When
    RequestRefusedException asReader = refusal(a.acquire(read()));
    RequestRefusedException asPermits = refusal(a.acquire(permits(1, 2)));
    // Then
    assertThat(asReader.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(asReader).hasMessageContaining(lock);
    assertThat(asPermits.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
  }

  @Test
  void kindThatTheServerDoesNotHaveIsRefused() {
    // Given
    LockkeeperClient a = client("a");
    // When
    RequestRefusedException refused =
        refusal(a.acquire(LockRequest.of(LockSpec.custom(lock, "no-such-kind"))));
    // Then
    assertThat(refused.code()).isIn(Status.Code.INVALID_ARGUMENT, Status.Code.FAILED_PRECONDITION);
  }

  @Test
  void severalLocksAreGrantedTogetherWithATokenEach() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockSpec permits = LockSpec.permits(lock + "/p", 2, 3);
    // When
    LockHandle all =
        a.lock(
            LockRequest.of(LockSpec.exclusive(lock + "/x"), LockSpec.write(lock + "/w"), permits));
    // Then
    assertThat(all.grants())
        .extracting(LockGrant::name)
        .containsExactly(lock + "/x", lock + "/w", lock + "/p");
    assertThat(all.fencingToken(lock + "/w")).isEqualTo(all.grants().get(1).fencingToken());
    assertThat(all.grants()).allSatisfy(grant -> assertThat(grant.fencingToken()).isPositive());
    assertThatThrownBy(() -> all.fencingToken("another"))
        .isInstanceOf(IllegalArgumentException.class);
    all.close();
    assertThat(a.listLocks(lock)).isEmpty();
  }

  @Test
  void oneLockOfSeveralThatIsTakenLeavesAllOthersFree() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    client("a").lock(lock + "/2");
    LockRequest both =
        LockRequest.of(LockSpec.exclusive(lock + "/1"), LockSpec.exclusive(lock + "/2"));
    // When
    Optional<LockHandle> tried = b.tryLock(both.waitAtMost(Duration.ZERO));
    Optional<LockHandle> waited = b.tryLock(both.waitAtMost(Duration.ofMillis(300)));
    // Then
    assertThat(tried).isEmpty();
    assertThat(waited).isEmpty();
    // Whose time is over is told so before what it had in the queues is deleted.
    await().until(() -> b.getLock(lock + "/1").isFree());
    await().until(() -> b.getLock(lock + "/2").queueLength() == 0);
  }

  @Test
  void listenerHearsThePlaceInEveryQueueThatTheRequestWaitsIn() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    client("a").lock(LockRequest.of(LockSpec.exclusive(lock + "/1"), LockSpec.read(lock + "/2")));
    List<String> heard = new CopyOnWriteArrayList<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void onPlaces(List<QueuePlace> places) {
            places.forEach(
                p -> heard.add(p.lock() + " " + p.ahead() + " " + p.holders().get(0).holder()));
          }
        };
    // When
    LockRequest both = LockRequest.of(LockSpec.write(lock + "/2"), LockSpec.exclusive(lock + "/1"));
    CompletableFuture<LockHandle> unused = queue(b, both.listener(listener), lock + "/1");
    // Then
    await()
        .untilAsserted(() -> assertThat(heard).containsExactly(lock + "/2 1 a", lock + "/1 1 a"));
  }

  @Test
  void locksNamedInAnyOrderNeverBlockEachOtherForEver() {
    // Given
    Random random = new Random(20_260_101L);
    List<String> names = List.of(lock + "/1", lock + "/2", lock + "/3", lock + "/4");
    List<LockkeeperClient> all = List.of(client("a"), client("b"), client("c"), client("d"));
    List<CompletableFuture<Void>> rounds = new ArrayList<>();
    // When
    for (int i = 0; i < 60; i++) {
      List<String> shuffled = new ArrayList<>(names);
      Collections.shuffle(shuffled, random);
      List<LockSpec> some =
          shuffled.subList(0, 2 + random.nextInt(3)).stream().map(LockSpec::exclusive).toList();
      rounds.add(
          all.get(i % all.size())
              .acquire(LockRequest.of(some).owner("task " + i))
              .thenCompose(LockHandle::releaseAsync));
    }
    // Then
    assertThat(CompletableFuture.allOf(rounds.toArray(CompletableFuture[]::new)))
        .succeedsWithin(LONG);
  }

  @Test
  void contendersSayWhatTheyAskedFor() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    // When
    a.lock(permits(2, 5).owner("task").metadata("purpose", "printing"));
    CompletableFuture<LockHandle> unusedToo =
        queue(client("b"), permits(4, 5).owner("other"), lock);
    LockInfo info = a.getLock(lock);
    // Then
    assertThat(info.holders())
        .singleElement()
        .satisfies(
            holder -> {
              assertThat(holder.owner()).isEqualTo("task");
              assertThat(holder.mode()).isEqualTo(LockMode.PERMITS);
              assertThat(holder.permits()).isEqualTo(2);
              assertThat(holder.limit()).isEqualTo(5);
              assertThat(holder.metadata()).containsEntry("purpose", "printing");
              assertThat(holder.releaseIn()).isEmpty();
            });
    assertThat(info.queue())
        .singleElement()
        .satisfies(waiter -> assertThat(waiter.permits()).isEqualTo(4));
  }
}
