package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.util.Durations;
import io.grpc.Status;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.DeadlockCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a client sends of locks that it keeps, and what it does not. */
class KeptLocksTest extends KeptLocksScript {

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
  void requestsThatComeTogetherAreOneAtTheServer() {
    // Given
    CompletableFuture<LockHandle> first = ask(kept());
    CompletableFuture<LockHandle> second = ask(kept());
    CompletableFuture<LockHandle> third = ask(kept());
    assertThat(asked()).hasSize(1);
    assertThat(reason(ask(kept().waitAtMost(Duration.ZERO))))
        .isEqualTo(NotAcquiredReason.TIMED_OUT);
    // When
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 5));
    // Then
    first.join().close();
    now(second).close();
    now(third).close();
    assertThat(server.wishes()).hasSize(1);
  }

  @Test
  void nextOneAsksWhenTheOneThatAskedIsRefusedOrGivesUp() {
    // Given
    CompletableFuture<LockHandle> first = ask(kept());
    CompletableFuture<LockHandle> second = ask(kept());
    CompletableFuture<LockHandle> third = ask(kept());
    // When
    server.send(ScriptedServer.refused(lastId(), Status.Code.INVALID_ARGUMENT));
    // Then
    assertThat(first).isCompletedExceptionally();
    assertThat(asked()).hasSize(2);
    assertThat(second).isNotDone();
    // When
    second.cancel(true);
    // Then
    assertThat(released()).hasSize(1);
    assertThat(asked()).hasSize(3);
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 5));
    assertThat(now(third).isValid()).isTrue();
  }

  @Test
  void requestsOfOneOwnerThatComeTogetherAreLevels() {
    LockRequest owned = kept().owner("task");
    CompletableFuture<LockHandle> outer = ask(owned);
    CompletableFuture<LockHandle> other = ask(kept());
    CompletableFuture<LockHandle> inner = ask(owned);
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 5));
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

  @Test
  void laterUsersHearThatTheOneBeforeHasReleased() {
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
}
