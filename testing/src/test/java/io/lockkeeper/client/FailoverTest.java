package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever breaks, and wherever a request stands: it goes on at the next server. */
class FailoverTest {

  private static final String LOCK = "orders/42";

  /** Time enough to find out and to go on, and less than the lease has. */
  private static final Duration SOON = Duration.ofSeconds(10);

  private final ManualClock clock = new ManualClock();
  private final Recording heard = new Recording();
  private InMemoryLockkeeper first;
  private InMemoryLockkeeper second;
  private LockkeeperClient client;
  private LockkeeperClient other;

  /** What becomes of the first server. */
  enum Break {
    CONNECTION_LOST,
    CRASH,
    UNAVAILABLE,
    GOING_AWAY,
    SILENCE
  }

  @BeforeEach
  void start() {
    first = InMemoryLockkeeper.start(clock);
    second = first.startPeer();
    client = first.clusterClientBuilder().holder("a").callbackExecutor(Runnable::run).build();
    other = second.clusterClientBuilder().holder("b").callbackExecutor(Runnable::run).build();
  }

  @AfterEach
  void stop() {
    first.thaw();
    client.close();
    other.close();
    first.close();
    second.close();
  }

  private CompletableFuture<LockHandle> ask(LockkeeperClient who) {
    CompletableFuture<LockHandle> asked =
        who.acquire(LockRequest.of(LOCK).listener(who == client ? heard : LockListener.NONE));
    clock.settle();
    return asked;
  }

  /** What was heard, but not behind whom: a server may not have read whom another serves. */
  private List<String> places() {
    return heard.events().stream()
        .map(event -> event.replaceAll(" behind .*", ""))
        .distinct()
        .toList();
  }

  private void breaks(Break what) {
    switch (what) {
      case CONNECTION_LOST -> first.dropStreams();
      case CRASH -> first.crash();
      case UNAVAILABLE -> {
        first.refuseCalls(true);
        first.dropStreams();
      }
      case GOING_AWAY -> first.goAway(Duration.ZERO);
      case SILENCE -> first.freeze();
    }
    clock.settle();
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void heldStaysHeld(Break what) {
    // Given
    LockHandle held = ask(client).join();
    // When
    breaks(what);
    clock.advance(SOON);
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(second.holderToken(LOCK)).contains(held.fencingToken());
    assertThat(heard.events()).containsExactly("granted", "resumed");
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void queuedKeepsItsPlace(Break what) {
    // Given
    LockHandle held = ask(other).join();
    CompletableFuture<LockHandle> before = ask(client);
    CompletableFuture<LockHandle> behind = ask(other);
    // When
    breaks(what);
    clock.advance(SOON);
    CompletableFuture<Void> released = held.releaseAsync();
    clock.advance(SOON);
    // Then
    assertThat(released).isCompleted();
    assertThat(before).isCompleted();
    assertThat(behind).isNotDone();
    assertThat(places()).containsExactly("queued 1", "granted");
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void releaseOnItsWayIsRepeated(Break what) {
    // Given
    LockHandle held = ask(client).join();
    first.delay(Duration.ofSeconds(1), Duration.ZERO);
    CompletableFuture<Void> released = held.releaseAsync();
    clock.settle();
    boolean before = released.isDone();
    // When
    breaks(what);
    clock.advance(SOON);
    // Then
    assertThat(before).isFalse();
    assertThat(released).isCompleted();
    assertThat(second.holderToken(LOCK)).isEmpty();
    assertThat(heard.events()).containsExactly("granted");
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void withdrawalOnItsWayIsRepeated(Break what) {
    // Given
    LockHandle held = ask(other).join();
    CompletableFuture<LockHandle> waiting = ask(client);
    first.delay(Duration.ofSeconds(1), Duration.ZERO);
    boolean cancelled = waiting.cancel(true);
    clock.settle();
    // When
    breaks(what);
    clock.advance(SOON);
    // Then
    assertThat(cancelled).isTrue();
    assertThat(held.isValid()).isTrue();
    assertThat(other.getLock(LOCK).queueLength()).isZero();
    assertThat(places()).containsExactly("queued 1");
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void requestOnItsWayIsRepeated(Break what) {
    // Given
    granted(client.acquire(LockRequest.of("orders/43")));
    first.delay(Duration.ofSeconds(1), Duration.ZERO);
    CompletableFuture<LockHandle> asked = ask(client);
    boolean before = asked.isDone();
    // When
    breaks(what);
    clock.advance(SOON);
    // Then
    assertThat(before).isFalse();
    assertThat(asked).isCompleted();
    assertThat(second.holderToken(LOCK)).contains(asked.join().fencingToken());
    assertThat(heard.events()).containsExactly("granted");
  }

  @Test
  void releaseWhoseAnswerIsNotHeardCountsAsDone() {
    // Given
    LockHandle held = ask(client).join();
    first.delay(Duration.ZERO, Duration.ofSeconds(1));
    CompletableFuture<ReleaseResult> released = held.releaseForResult();
    clock.settle();
    boolean free = second.holderToken(LOCK).isEmpty();
    // When
    first.crash();
    clock.advance(SOON);
    // Then
    assertThat(free).isTrue();
    assertThat(released)
        .isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.ALREADY_RELEASED, 0));
  }

  @Test
  void shareOfAHoldIsBroughtBackBeforeTheReleaseOfTheRequestThatMadeIt() {
    // Given
    LockRequest mine = LockRequest.of(LOCK).owner("task").listener(heard);
    LockHandle outer = granted(client.acquire(mine));
    LockHandle inner = granted(client.acquire(mine));
    first.delay(Duration.ofSeconds(1), Duration.ZERO);
    CompletableFuture<ReleaseResult> released = outer.releaseForResult();
    clock.settle();
    // When
    first.crash();
    clock.advance(SOON);
    // Then
    assertThat(inner.isValid()).isTrue();
    assertThat(second.holderToken(LOCK)).contains(inner.fencingToken());
    assertThat(released.join().outcome()).isEqualTo(ReleaseResult.Outcome.DECREMENTED);
    assertThat(heard.events()).containsExactly("granted", "granted", "resumed");
  }

  @Test
  void shareOfAHoldOutlivesTheRequestThatMadeIt() {
    // Given
    LockRequest mine = LockRequest.of(LOCK).owner("task").listener(heard);
    LockHandle outer = granted(client.acquire(mine));
    LockHandle inner = granted(client.acquire(mine));
    CompletableFuture<Void> releasedBefore = outer.releaseAsync();
    clock.settle();
    // When
    first.crash();
    clock.advance(SOON);
    boolean held = second.holderToken(LOCK).isPresent();
    CompletableFuture<ReleaseResult> released = inner.releaseForResult();
    clock.advance(SOON);
    // Then
    assertThat(releasedBefore).isCompleted();
    assertThat(held).isTrue();
    assertThat(released.join().outcome()).isEqualTo(ReleaseResult.Outcome.RELEASED);
    assertThat(second.holderToken(LOCK)).isEmpty();
  }

  @Test
  void requestThatIsRepeatedDoesNotFindTheHoldThatIsReleasedBeforeIt() {
    // Given
    LockRequest mine = LockRequest.of(LOCK).owner("task");
    LockHandle held = granted(client.acquire(mine));
    first.delay(Duration.ofSeconds(1), Duration.ZERO);
    CompletableFuture<ReleaseResult> released = held.releaseForResult();
    CompletableFuture<LockHandle> again = client.acquire(mine);
    clock.settle();
    // When
    first.crash();
    clock.advance(SOON);
    // Then
    assertThat(released.join().outcome()).isEqualTo(ReleaseResult.Outcome.RELEASED);
    assertThat(again.join().fencingToken()).isGreaterThan(held.fencingToken());
  }

  private LockHandle granted(CompletableFuture<LockHandle> asked) {
    clock.settle();
    return asked.join();
  }

  @Test
  void jeopardyOfOneServerIsOverAtTheNext() {
    // Given
    LockHandle held = ask(client).join();
    first.jeopardy();
    clock.settle();
    // When
    first.crash();
    clock.advance(Duration.ofSeconds(1));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(heard.events())
        .containsExactly("granted", "jeopardy PT14.65S", "resumed", "safe PT14.65S");
  }

  @ParameterizedTest
  @EnumSource(names = {"CONNECTION_LOST", "CRASH", "UNAVAILABLE"})
  void watchGoesOnAtTheNextServerWhereItStood(Break what) {
    // Given
    CompletableFuture<Void> before = ask(other).join().releaseAsync();
    clock.settle();
    RecordingWatch watched = new RecordingWatch();
    Watch watch = client.watch("", watched);
    clock.settle();
    // When
    breaks(what);
    LockHandle held = ask(other).join();
    clock.advance(SOON);
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(before).isCompleted();
    assertThat(watched.events())
        .startsWith("end")
        .endsWith("UNKNOWN " + LOCK) // Nobody watched there: only the state after it is told.
        .containsOnlyOnce("end", "UNKNOWN " + LOCK)
        .doesNotContain("gap");
    watch.close();
  }

  @Test
  void watchIsBegunAtTheNextServerWhereOneSaysNothing() {
    // Given
    first.freeze();
    RecordingWatch watched = new RecordingWatch();
    Watch watch = client.watch("", watched);
    // When
    clock.advance(Duration.ofSeconds(16));
    // Then
    assertThat(watched.events()).containsExactly("end");
    watch.close();
  }
}
