package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.util.Durations;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Owners, handles, listeners and limits of locks that a client keeps; see the kit for the rest. */
class KeptLocksTest {

  private static final String LOCK = "orders/42";
  private static final Duration KEEP = Duration.ofSeconds(10);

  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;
  private final Recording heard = new Recording();

  @BeforeEach
  void start() {
    server.script(ScriptedServer::keepAlive);
  }

  private static LockRequest kept() {
    return LockRequest.of(LOCK).keepUnused(KEEP);
  }

  private CompletableFuture<LockHandle> ask(LockRequest request) {
    CompletableFuture<LockHandle> asked = client.acquire(request);
    scripted.clock.settle();
    return asked;
  }

  private void request(LockRequest request) {
    CompletableFuture<LockHandle> unused = ask(request);
  }

  private List<AcquireRequest> asked() {
    return server.wishes().stream()
        .filter(SessionRequest::hasAcquire)
        .map(SessionRequest::getAcquire)
        .toList();
  }

  private List<String> released() {
    scripted.clock.settle();
    return server.wishes().stream()
        .filter(SessionRequest::hasRelease)
        .map(wish -> wish.getRelease().getRequestId())
        .toList();
  }

  private String lastId() {
    return asked().get(asked().size() - 1).getRequestId();
  }

  /** Acquires the lock from the server. */
  private LockHandle fetch(LockRequest request, long token) {
    CompletableFuture<LockHandle> asked = ask(request);
    server.send(ScriptedServer.granted(lastId(), 1, request.name(), token));
    return asked.join();
  }

  private LockHandle fetch(LockRequest request) {
    return fetch(request, 5);
  }

  private LockHandle now(CompletableFuture<LockHandle> future) {
    scripted.clock.settle();
    assertThat(future).isCompleted();
    return future.join();
  }

  private static NotAcquiredReason reason(CompletableFuture<LockHandle> future) {
    assertThat(future).isCompletedExceptionally();
    Throwable why = future.handle((handle, failure) -> failure).join();
    return ((NotAcquiredException) why).reason();
  }

  // Handles

  @Test
  void firstUsersHandleDoesNothingToTheSecondUser() {
    LockHandle first = fetch(kept());
    first.close();
    LockHandle second = now(ask(kept()));
    first.close();
    assertThat(second.isValid()).isTrue();
    assertThat(first.isValid()).isFalse();
    assertThatThrownBy(first::checkValid).isInstanceOf(IllegalStateException.class);
    assertThat(first.updateMetadata(Map.of("a", "b"))).isCompletedExceptionally();
    assertThat(released()).isEmpty();
  }

  @Test
  void releaseOfAWantedLockIsDoneWhenTheServerSaysSo() {
    // Given
    LockHandle used = fetch(kept().listener(heard));
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 3));
    server.send(ScriptedServer.contended(lastId(), 3, LOCK, 4));
    // When
    CompletableFuture<ReleaseResult> result = used.releaseForResult();
    // Then
    assertThat(released()).hasSize(1);
    assertThat(result).isNotDone();
    server.send(ScriptedServer.released(lastId(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED));
    assertThat(result).isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
    assertThat(heard.events()).containsExactly("granted", "contended 3");
  }

  @Test
  void lossReachesTheHandleOfItsUserOnly() {
    // Given
    LockHandle first = fetch(kept());
    first.close();
    LockHandle used = now(ask(kept().listener(heard)));
    // When
    server.send(ScriptedServer.lost(lastId(), 2));
    // Then
    assertThat(heard.events()).containsExactly("granted", "lost FORCED");
    assertThat(used.lost().toCompletableFuture()).isCompletedWithValue(LossReason.FORCED);
    assertThatThrownBy(used::close).isInstanceOf(LockLostException.class);
    assertThat(used.releaseForResult())
        .isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.LOST, 0));
    assertThat(first.lost().toCompletableFuture()).isNotDone();
  }

  @Test
  void closeEndsWhatIsUsedAndWhatWaits() {
    // Given
    fetch(kept().listener(heard));
    CompletableFuture<LockHandle> waiting = ask(kept());
    // When
    client.close();
    // Then
    assertThat(heard.events()).containsExactly("granted", "lost LEASE_CLOSED");
    assertThat(waiting)
        .failsWithin(Duration.ofMinutes(1))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockkeeperException.class);
    assertThatThrownBy(() -> client.acquire(kept())).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void laterUsersAreToldThatTheOneBeforeHasReleased() {
    // Given
    CompletableFuture<LockHandle> asked = ask(kept().owner("task"));
    AcquireResponse.Builder event = AcquireResponse.newBuilder();
    event
        .getGrantedBuilder()
        .addGrantsBuilder()
        .setName(LOCK)
        .setFencingToken(5)
        .setHoldCount(1)
        .setPreviousEnd(io.lockkeeper.v1.PreviousEnd.PREVIOUS_END_LOST);
    server.send(ScriptedServer.event(event, lastId(), 1));
    assertThat(asked.join().previousEnd()).isEqualTo(PreviousEnd.LOST);
    // When
    LockHandle level = now(ask(kept().owner("task")));
    // Then
    assertThat(level.previousEnd()).isEqualTo(PreviousEnd.RELEASED);
    assertThat(level.holdCount()).isEqualTo(2);
    level.close();
    asked.join().close();
    assertThat(now(ask(kept())).previousEnd()).isEqualTo(PreviousEnd.RELEASED);
  }

  // Owners

  @Test
  void requestsOfOneOwnerThatComeTogetherAreLevels() {
    LockRequest owned = kept().owner("task");
    CompletableFuture<LockHandle> outer = ask(owned);
    CompletableFuture<LockHandle> other = ask(kept());
    CompletableFuture<LockHandle> inner = ask(owned);
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 5));
    assertThat(asked()).singleElement().matches(request -> request.getOwner().isEmpty());
    assertThat(now(outer).isValid()).isTrue();
    assertThat(now(inner).isValid()).isTrue();
    assertThat(other).isNotDone();
  }

  @Test
  void permitsOfOneOwnerAreTakenEachByItself() {
    LockRequest permit =
        LockRequest.of(LockSpec.permits(LOCK, 1, 5)).owner("task").keepUnused(KEEP);
    LockHandle one = fetch(permit);
    CompletableFuture<LockHandle> other = ask(permit);
    assertThat(other).isNotDone();
    assertThat(asked()).hasSize(2);
    one.close();
    assertThat(now(ask(permit)).fencingToken()).isEqualTo(5);
  }

  @Test
  void ownerHoldsItAgainAndPassesItOnWithTheLast() {
    // Given
    LockRequest owned = kept().owner("task");
    LockHandle outer = fetch(owned);
    CompletableFuture<LockHandle> other = ask(kept().owner("another"));
    // When
    LockHandle inner = now(ask(owned));
    // Then
    assertThat(inner.fencingToken()).isEqualTo(5);
    assertThat(outer.releaseForResult())
        .isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.DECREMENTED, 1));
    assertThat(other).isNotDone();
    assertThat(inner.isValid()).isTrue();
    inner.close();
    assertThat(now(other).isValid()).isTrue();
    assertThat(server.wishes()).hasSize(1);
  }

  @Test
  void ownerThatWouldWaitForItselfIsRefused() {
    fetch(kept().owner("task"));
    LockRequest both = LockRequest.of(LockSpec.exclusive("b"), LockSpec.exclusive(LOCK));
    assertThat(reason(ask(both.owner("task").keepUnused(KEEP))))
        .isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
    assertThat(reason(ask(LockRequest.of(LOCK).owner("task"))))
        .isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
    assertThat(asked()).hasSize(1);
    assertThat(ask(LockRequest.of(LOCK).owner("another"))).isNotDone();
    assertThat(asked()).hasSize(2);
  }

  @Test
  void ownerThatHoldsItByAnotherKindOfRequestIsRefused() {
    fetch(LockRequest.of(LOCK).owner("task"));
    assertThat(reason(ask(kept().owner("task")))).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
    assertThat(asked()).hasSize(1);
  }

  @Test
  void ownerOfPermitsAndAnExclusiveLockIsRefusedASecondTime() {
    LockRequest mixed =
        LockRequest.of(LockSpec.exclusive("a"), LockSpec.permits("p", 1, 5))
            .owner("task")
            .keepUnused(KEEP);
    CompletableFuture<LockHandle> asked = ask(mixed);
    CompletableFuture<LockHandle> together = ask(mixed);
    AcquireResponse.Builder event = AcquireResponse.newBuilder();
    event.getGrantedBuilder().addGrantsBuilder().setName("a").setFencingToken(5);
    event.getGrantedBuilder().addGrantsBuilder().setName("p").setFencingToken(6);
    server.send(ScriptedServer.event(event, lastId(), 1));
    assertThat(asked).isCompleted();
    assertThat(reason(together)).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
    assertThat(reason(ask(mixed))).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK);
  }

  // Which requests use it

  @Test
  void requestWithOtherTermsAsksTheServer() {
    fetch(kept()).close();
    request(LockRequest.of(LockSpec.write(LOCK)).keepUnused(KEEP));
    request(kept().lockDelay(Duration.ofSeconds(1)));
    request(LockRequest.of(LOCK));
    assertThat(asked()).hasSize(4);
    assertThat(ask(kept().metadata("who", "else"))).isCompleted();
  }

  @Test
  void readersShareAndEachIsKept() {
    // Given
    LockRequest read = LockRequest.of(LockSpec.read(LOCK)).keepUnused(KEEP);
    LockHandle one = fetch(read, 5);
    LockHandle other = fetch(read, 6);
    // When
    one.close();
    other.close();
    // Then
    List<Long> tokens = List.of(now(ask(read)).fencingToken(), now(ask(read)).fencingToken());
    assertThat(tokens).containsExactlyInAnyOrder(5L, 6L);
    assertThat(ask(read)).isNotDone();
    assertThat(asked()).hasSize(3);
  }

  // Waiting in the client

  @Test
  void waitInTheClientEndsWithItsLimitOrItsCancellation() {
    // Given
    LockHandle used = fetch(kept());
    CompletableFuture<LockHandle> timed = ask(kept().waitAtMost(Duration.ofSeconds(3)));
    CompletableFuture<LockHandle> cancelled = ask(kept());
    CompletableFuture<LockHandle> behind = ask(kept());
    // When
    cancelled.cancel(true);
    scripted.clock.advance(Duration.ofSeconds(3));
    // Then
    assertThat(reason(timed)).isEqualTo(NotAcquiredReason.TIMED_OUT);
    used.close();
    assertThat(now(behind).isValid()).isTrue();
  }

  @Test
  void waitInTheClientCountsAtTheServer() {
    // Given
    fetch(kept());
    request(kept().waitAtMost(Duration.ofSeconds(8)));
    scripted.clock.advance(Duration.ofSeconds(3));
    // When
    server.send(ScriptedServer.lost(lastId(), 2));
    // Then
    assertThat(Durations.toMillis(asked().get(1).getWaitTimeout())).isEqualTo(5_000);
  }

  @Test
  void cancelledRequestIsWithdrawnAtTheServerAndTheNextOneAsks() {
    // Given
    CompletableFuture<LockHandle> first = ask(kept());
    CompletableFuture<LockHandle> second = ask(kept());
    // When
    first.cancel(true);
    // Then
    assertThat(released()).containsExactly(asked().get(0).getRequestId());
    assertThat(asked()).hasSize(2);
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 5));
    assertThat(now(second).isValid()).isTrue();
  }

  @Test
  void waiterCancelledWhileItIsToAskTheServerLeavesNothingBehind() {
    // Given: a holder that loses the lock cancels the next request for it
    List<CompletableFuture<LockHandle>> waiting = new ArrayList<>();
    LockHandle used =
        fetch(
            kept()
                .listener(
                    new LockListener() {
                      @Override
                      public void onLost(LockHandle handle, LossReason reason) {
                        waiting.get(0).cancel(true);
                      }
                    }));
    waiting.add(ask(kept()));
    // When
    server.send(ScriptedServer.lost(lastId(), 2));
    // Then
    scripted.clock.advance(Duration.ofSeconds(1));
    assertThat(used.isValid()).isFalse();
    assertThat(released()).hasSize(asked().size() - 1);
    assertThat(fetch(kept(), 9).isValid()).isTrue();
  }

  // The end of keeping

  @Test
  void waitersAskTheServerAfterOneSecondAndAreHandedNothing() {
    // Given
    LockHandle first = fetch(kept());
    CompletableFuture<LockHandle> waiting = ask(kept());
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 1));
    // When
    scripted.clock.advance(Duration.ofSeconds(1).minusNanos(1));
    int before = asked().size();
    scripted.clock.advance(Duration.ofNanos(1));
    CompletableFuture<ReleaseResult> unused = first.releaseForResult();
    // Then
    assertThat(before).isEqualTo(1);
    assertThat(asked()).hasSize(2);
    assertThat(released()).hasSize(1);
    assertThat(waiting).isNotDone();
  }

  @Test
  void unusedLockIsReleasedWhenTheTimeOfItsLastUserIsOver() {
    // Given: in use for longer than any of the times, and then with a shorter one
    fetch(kept()).close();
    LockHandle used = now(ask(kept()));
    scripted.clock.advance(KEEP.multipliedBy(3));
    used.close();
    scripted.clock.advance(Duration.ofSeconds(6));
    now(ask(kept().keepUnused(Duration.ofSeconds(5)))).close();
    // When
    scripted.clock.advance(Duration.ofSeconds(5).minusNanos(1));
    List<String> before = released();
    scripted.clock.advance(Duration.ofNanos(1));
    // Then
    assertThat(before).isEmpty();
    assertThat(released()).hasSize(1);
  }

  @Test
  void warningBeforeTheDeadlineEndsTheKeeping() {
    fetch(LockRequest.of(LOCK).keepUnused(Duration.ofHours(1))).close();
    server.script((request, client) -> {});
    scripted.clock.advance(Duration.ofSeconds(ScriptedServer.TTL_SECONDS - 1));
    assertThat(ask(kept())).isNotDone();
  }

  @Test
  void releaseRequestEndsTheKeeping() {
    fetch(kept()).close();
    server.send(releaseRequested(2));
    assertThat(released()).hasSize(1);
  }

  private SessionResponse releaseRequested(long sequence) {
    ReleaseRequested.Builder requested =
        ReleaseRequested.newBuilder().setName(LOCK).setRequester("ops").setReason("deploy");
    return ScriptedServer.event(
        AcquireResponse.newBuilder().setReleaseRequested(requested), lastId(), sequence);
  }

  @Test
  void nextUserOfAWantedLockIsToldWithTheGrant() {
    // Given
    LockHandle first = fetch(kept());
    CompletableFuture<LockHandle> next = ask(kept().listener(heard));
    server.send(releaseRequested(2));
    server.send(ScriptedServer.contended(lastId(), 3, LOCK, 2));
    // When
    first.close();
    // Then
    assertThat(now(next).isValid()).isTrue();
    assertThat(heard.events())
        .containsExactly("queued 1 behind ", "granted", "contended 2", "asked by ops: deploy");
  }

  @Test
  void holderIsToldOfWaitersWithoutKeepingAnything() {
    // Given
    LockHandle held = fetch(LockRequest.of(LOCK).notifyContention().listener(heard));
    // When
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 1));
    // Then
    assertThat(heard.events()).containsExactly("granted", "contended 1");
    assertThat(held.isValid()).isTrue();
    assertThat(released()).isEmpty();
  }

  // Limits

  @Test
  void onlyAThousandAreKeptUnused() {
    List<LockHandle> handles = new ArrayList<>();
    for (int i = 0; i <= 1_000; i++) {
      handles.add(fetch(LockRequest.of("many/" + i).keepUnused(KEEP)));
    }
    handles.forEach(handle -> assertThat(handle.releaseAsync()).isNotNull());
    assertThat(released()).containsExactly(lastId());
  }

  @Test
  void timesAreCheckedAndMaxHoldExcludesIt() {
    assertThatThrownBy(() -> LockRequest.of(LOCK).keepUnused(Duration.ofMillis(99)))
        .hasMessageContaining("keepUnused")
        .hasMessageContaining("100 ms to 1 hour");
    assertThatThrownBy(() -> LockRequest.of(LOCK).maxHold(KEEP).keepUnused(KEEP))
        .hasMessage("keepUnused must be without maxHold, not with it");
    assertThatThrownBy(() -> kept().maxHold(KEEP))
        .hasMessage("maxHold must be without keepUnused, not with it");
    assertThatThrownBy(() -> LockRequest.of(LOCK).checkForDeadlock().keepUnused(KEEP))
        .hasMessage("keepUnused must be without checkForDeadlock, not with it");
    assertThatThrownBy(() -> kept().checkForDeadlock())
        .hasMessage("checkForDeadlock must be without keepUnused, not with it");
  }
}
