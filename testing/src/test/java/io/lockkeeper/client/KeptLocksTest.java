package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.util.Durations;
import io.grpc.Status;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.DeadlockCheck;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a client sends of locks that it keeps, and what it does not. */
@Timeout(60)
class KeptLocksTest {

  private static final String LOCK = "orders/42";
  private static final Duration KEEP = Duration.ofSeconds(10);

  private final ScriptedClient scripted = new ScriptedClient();
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;
  private final Recording heard = new Recording();

  @BeforeEach
  void start() {
    server.script(ScriptedServer::keepAlive);
  }

  @AfterEach
  void stop() {
    scripted.close();
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

  private static void give(LockHandle handle) {
    CompletableFuture<Void> unused = handle.releaseAsync();
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

  /** Has it asked for at the server, and granted. */
  private LockHandle fetch(LockRequest request, long token, int waiters) {
    CompletableFuture<LockHandle> asked = ask(request);
    server.send(ScriptedServer.granted(lastId(), 1, request.name(), token, waiters));
    return asked.join();
  }

  private LockHandle fetch(LockRequest request) {
    return fetch(request, 5, 0);
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

  @Test
  void requestAsksToBeToldAndNamesNoOwner() {
    fetch(kept().owner("task"));
    assertThat(asked())
        .singleElement()
        .satisfies(request -> assertThat(request.getNotifyContention()).isTrue())
        .satisfies(request -> assertThat(request.getOwner()).isEmpty())
        .satisfies(
            request ->
                assertThat(request.getDeadlockCheck()).isEqualTo(DeadlockCheck.DEADLOCK_CHECK_OFF));
  }

  @Test
  void nextRequestHasTheSameTokenWithoutAMessage() {
    // Given
    LockHandle first = fetch(kept().listener(heard));
    ReleaseResult result = first.releaseForResult().join();
    int messages = server.wishes().size();
    // When
    LockHandle second = now(ask(kept().listener(heard)));
    // Then
    assertThat(result).isEqualTo(new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
    assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
    assertThat(second.isValid()).isTrue();
    assertThat(first.isValid()).isFalse();
    assertThatThrownBy(first::checkValid).isInstanceOf(IllegalStateException.class);
    assertThat(server.wishes()).hasSize(messages);
    assertThat(heard.events()).containsExactly("granted", "granted");
  }

  @Test
  void firstUsersHandleDoesNothingToTheSecondUser() {
    LockHandle first = fetch(kept());
    first.close();
    LockHandle second = now(ask(kept()));
    first.close();
    assertThat(second.isValid()).isTrue();
    assertThat(first.updateMetadata(java.util.Map.of("a", "b"))).isCompletedExceptionally();
    assertThat(released()).isEmpty();
  }

  @Test
  void whatOthersWantIsReleasedAtOnceIfNobodyUsesIt() {
    // Given
    fetch(kept()).close();
    // When
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 1));
    // Then
    assertThat(released()).containsExactly(lastId());
    assertThat(ask(kept())).isNotDone();
    assertThat(asked()).hasSize(2);
  }

  @Test
  void whatOthersWantIsReleasedWhenItsUserReleasesIt() {
    // Given
    LockHandle used = fetch(kept().listener(heard));
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 3));
    server.send(ScriptedServer.contended(lastId(), 3, LOCK, 4));
    assertThat(released()).isEmpty();
    assertThat(used.isValid()).isTrue();
    // When
    CompletableFuture<ReleaseResult> result = used.releaseForResult();
    // Then: and it is done when the server says so
    assertThat(released()).hasSize(1);
    assertThat(result).isNotDone();
    server.send(ScriptedServer.released(lastId(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED));
    assertThat(result).isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
    assertThat(heard.events()).containsExactly("granted", "contended 3");
  }

  @Test
  void grantThatTellsOfWaitersIsNotKept() {
    give(fetch(kept().listener(heard), 5, 2));
    assertThat(released()).hasSize(1);
    assertThat(heard.events()).containsExactly("granted", "contended 2");
  }

  @Test
  void othersOfTheClientWaitInTheirOrderWithoutAMessage() {
    // Given
    LockHandle first = fetch(kept());
    Recording second = new Recording();
    CompletableFuture<LockHandle> next = ask(kept().listener(second));
    CompletableFuture<LockHandle> last = ask(kept());
    assertThat(next).isNotDone();
    // When
    first.close();
    // Then
    assertThat(now(next).isValid()).isTrue();
    assertThat(last).isNotDone();
    assertThat(second.events()).containsExactly("queued 1 behind ", "granted");
    next.join().close();
    assertThat(now(last).fencingToken()).isEqualTo(5);
    assertThat(server.wishes()).hasSize(1);
  }

  @Test
  void thoseWhoWaitedBeforeItWasWantedGoFirstAndNobodyElse() {
    // Given
    LockHandle first = fetch(kept());
    final String held = lastId();
    CompletableFuture<LockHandle> before = ask(kept());
    server.send(ScriptedServer.contended(held, 2, LOCK, 1));
    // When
    CompletableFuture<LockHandle> after = ask(kept());
    // Then
    assertThat(asked()).hasSize(2);
    first.close();
    assertThat(now(before).isValid()).isTrue();
    assertThat(released()).isEmpty();
    give(before.join());
    assertThat(released()).containsExactly(held);
    assertThat(after).isNotDone();
  }

  @Test
  void thoseWhoWaitedAskTheServerWhenTheirSecondIsOver() {
    // Given
    LockHandle first = fetch(kept());
    CompletableFuture<LockHandle> before = ask(kept());
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 1));
    // When
    scripted.clock.advance(Duration.ofSeconds(1).minusNanos(1));
    assertThat(asked()).hasSize(1);
    scripted.clock.advance(Duration.ofNanos(1));
    // Then
    assertThat(asked()).hasSize(2);
    give(first);
    assertThat(released()).hasSize(1);
    assertThat(before).isNotDone();
  }

  @Test
  void nobodyIsHandedItWhenTheSecondIsOver() {
    LockHandle first = fetch(kept());
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 1));
    scripted.clock.advance(Duration.ofSeconds(2));
    give(first);
    assertThat(released()).hasSize(1);
  }

  @Test
  void whatNobodyUsesIsReleasedWhenItsTimeIsOver() {
    // Given: used again in between
    fetch(kept()).close();
    scripted.clock.advance(Duration.ofSeconds(6));
    now(ask(kept())).close();
    // When
    scripted.clock.advance(KEEP.minusNanos(1));
    assertThat(released()).isEmpty();
    scripted.clock.advance(Duration.ofNanos(1));
    // Then
    assertThat(released()).hasSize(1);
  }

  @Test
  void shorterTimeOfALaterUserCounts() {
    fetch(kept()).close();
    now(ask(LockRequest.of(LOCK).keepUnused(Duration.ofSeconds(1)))).close();
    scripted.clock.advance(Duration.ofSeconds(1));
    assertThat(released()).hasSize(1);
  }

  @Test
  void whatIsUsedIsNotReleasedByAnyTime() {
    fetch(kept()).close();
    LockHandle used = now(ask(kept()));
    scripted.clock.advance(KEEP.multipliedBy(3));
    assertThat(released()).isEmpty();
    assertThat(used.isValid()).isTrue();
  }

  @Test
  void oneWhoDoesNotWaitFindsItTakenInItsOwnClient() {
    fetch(kept());
    assertThat(reason(ask(kept().waitAtMost(Duration.ZERO))))
        .isEqualTo(NotAcquiredReason.TIMED_OUT);
    assertThat(server.wishes()).hasSize(1);
  }

  @Test
  void waitInTheClientEndsWithItsLimit() {
    // Given
    LockHandle used = fetch(kept());
    CompletableFuture<LockHandle> waiting = ask(kept().waitAtMost(Duration.ofSeconds(3)));
    CompletableFuture<LockHandle> behind = ask(kept());
    // When
    scripted.clock.advance(Duration.ofSeconds(3));
    // Then
    assertThat(reason(waiting)).isEqualTo(NotAcquiredReason.TIMED_OUT);
    used.close();
    assertThat(now(behind).isValid()).isTrue();
  }

  @Test
  void whoAsksTheServerAfterAWaitInTheClientHasWaitedThatLong() {
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
  void waiterThatIsCancelledIsPassedOver() {
    // Given
    LockHandle used = fetch(kept());
    CompletableFuture<LockHandle> cancelled = ask(kept());
    CompletableFuture<LockHandle> next = ask(kept());
    // When
    cancelled.cancel(true);
    scripted.clock.settle();
    used.close();
    // Then
    assertThat(now(next).isValid()).isTrue();
  }

  @Test
  void requestToTheServerThatIsCancelledIsWithdrawnThere() {
    CompletableFuture<LockHandle> asked = ask(kept());
    asked.cancel(true);
    assertThat(released()).containsExactly(lastId());
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 5));
    assertThat(ask(kept())).isNotDone();
  }

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
    LockHandle one = fetch(read, 5, 0);
    LockHandle other = fetch(read, 6, 0);
    assertThat(asked()).hasSize(2);
    // When
    one.close();
    other.close();
    // Then
    List<Long> tokens = List.of(now(ask(read)).fencingToken(), now(ask(read)).fencingToken());
    assertThat(tokens).containsExactlyInAnyOrder(5L, 6L);
    assertThat(ask(read)).isNotDone();
    assertThat(asked()).hasSize(3);
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
  void lossOfWhatNobodyUsesIsToldNobody() {
    // Given
    fetch(kept().listener(heard)).close();
    // When
    server.send(ScriptedServer.lost(lastId(), 2));
    // Then
    assertThat(heard.events()).containsExactly("granted");
    assertThat(ask(kept())).isNotDone();
    assertThat(asked()).hasSize(2);
    assertThat(released()).isEmpty();
  }

  @Test
  void lossIsToldItsUserAndThoseWhoWaitAskTheServer() {
    // Given
    LockHandle first = fetch(kept());
    first.close();
    LockHandle used = now(ask(kept().listener(heard)));
    request(kept());
    // When
    server.send(ScriptedServer.lost(lastId(), 2));
    // Then
    assertThat(heard.events()).containsExactly("granted", "lost FORCED");
    assertThat(used.isValid()).isFalse();
    assertThat(used.lost().toCompletableFuture()).isCompletedWithValue(LossReason.FORCED);
    assertThatThrownBy(used::close).isInstanceOf(LockLostException.class);
    assertThat(used.releaseForResult())
        .isCompletedWithValue(new ReleaseResult(ReleaseResult.Outcome.LOST, 0));
    assertThat(first.lost().toCompletableFuture()).isNotDone();
    assertThat(asked()).hasSize(2);
  }

  @Test
  void nothingIsUsedPastTheClientsOwnDeadline() {
    // Given
    fetch(kept()).close();
    server.script((request, client) -> {});
    // When: no timer of the client has run yet
    scripted.clock.advance(Duration.ofSeconds(ScriptedServer.TTL_SECONDS + 5));
    // Then
    assertThat(ask(kept())).isNotDone();
  }

  @Test
  void jeopardyEndsTheKeeping() {
    // Given
    fetch(kept()).close();
    Jeopardy.Builder jeopardy = Jeopardy.newBuilder();
    jeopardy.getValidForBuilder().setSeconds(5);
    // When
    server.send(
        ScriptedServer.event(AcquireResponse.newBuilder().setJeopardy(jeopardy), lastId(), 2));
    // Then
    assertThat(released()).hasSize(1);
  }

  @Test
  void warningBeforeTheDeadlineEndsTheKeeping() {
    // Given
    fetch(LockRequest.of(LOCK).keepUnused(Duration.ofHours(1))).close();
    server.script((request, client) -> {});
    // When
    scripted.clock.advance(Duration.ofSeconds(ScriptedServer.TTL_SECONDS - 1));
    // Then
    assertThat(ask(kept())).isNotDone();
  }

  @Test
  void wishThatItBeReleasedIsFollowedAtOnceIfNobodyUsesIt() {
    fetch(kept()).close();
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder()
                .setReleaseRequested(ReleaseRequested.newBuilder().setName(LOCK)),
            lastId(),
            2));
    assertThat(released()).hasSize(1);
  }

  @Test
  void whatIsKeptIsRepeatedToTheNextServer() {
    // Given
    fetch(kept()).close();
    String id = lastId();
    // When
    server.end(Status.UNAVAILABLE);
    scripted.clock.advance(Duration.ofSeconds(1));
    // Then
    assertThat(asked())
        .singleElement()
        .satisfies(again -> assertThat(again.getRequestId()).isEqualTo(id))
        .satisfies(again -> assertThat(again.getHeldTokensList()).containsExactly(5L))
        .satisfies(again -> assertThat(again.getNotifyContention()).isTrue());
    // When
    server.send(ScriptedServer.granted(id, 1, LOCK, 5));
    server.send(ScriptedServer.contended(id, 2, LOCK, 1));
    // Then
    assertThat(released()).containsExactly(id);
  }

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
  void closeEndsWhatIsUsedAndWhatWaits() {
    // Given
    fetch(kept().listener(heard));
    CompletableFuture<LockHandle> waiting = ask(kept());
    // When
    client.close();
    // Then
    assertThat(heard.events()).containsExactly("granted", "lost LEASE_CLOSED");
    assertThat(waiting)
        .failsWithin(1, TimeUnit.MINUTES)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockkeeperException.class);
    assertThatThrownBy(() -> client.acquire(kept())).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void nothingIsRememberedOfWhatIsNotKeptAnyMore() {
    fetch(kept()).close();
    scripted.clock.advance(KEEP);
    server.send(ScriptedServer.released(lastId(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED));
    LockHandle again = fetch(kept(), 9, 0);
    assertThat(again.fencingToken()).isEqualTo(9);
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
  }

  @Test
  void holderMayBeToldWithoutKeepingAnything() {
    // Given
    LockHandle held = fetch(LockRequest.of(LOCK).notifyContention().listener(heard));
    // When
    server.send(ScriptedServer.contended(lastId(), 2, LOCK, 1));
    // Then
    assertThat(heard.events()).containsExactly("granted", "contended 1");
    assertThat(held.isValid()).isTrue();
    assertThat(released()).isEmpty();
  }
}
