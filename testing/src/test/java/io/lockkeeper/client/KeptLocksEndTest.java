package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequested;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What ends the keeping of a lock: others who want it, its time, a loss. */
class KeptLocksEndTest extends KeptLocksScript {

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
  void thoseWhoWaitedWhenItWasGrantedGoFirstForASecondIfOthersWaitToo() {
    // Given
    CompletableFuture<LockHandle> first = ask(kept());
    CompletableFuture<LockHandle> second = ask(kept());
    CompletableFuture<LockHandle> third = ask(kept());
    // When
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 5, 1));
    // Then
    first.join().close();
    assertThat(now(second).isValid()).isTrue();
    CompletableFuture<LockHandle> later = ask(kept());
    assertThat(asked()).hasSize(2);
    scripted.clock.advance(Duration.ofSeconds(1));
    give(second.join());
    assertThat(released()).hasSize(1);
    server.send(ScriptedServer.granted(lastId(), 1, LOCK, 9));
    now(later).close();
    assertThat(now(third).fencingToken()).isEqualTo(9);
    assertThat(asked()).hasSize(2);
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
    fetch(kept().keepUnused(Duration.ofHours(1))).close();
    server.script((request, client) -> {});
    // When
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

  @Test
  void waitersThatANewGrantTellsOfAfterAResumeAreHeard() {
    // Given
    fetch(kept()).close();
    String id = lastId();
    server.takeOver();
    server.end(Status.UNAVAILABLE);
    scripted.clock.advance(Duration.ofSeconds(1));
    // When
    server.send(ScriptedServer.granted(id, 1, LOCK, 5, 1));
    // Then
    assertThat(released()).containsExactly(id);
  }

  @Test
  void whoIsHandedWhatIsWantedHearsOfItWithTheGrant() {
    // Given
    LockHandle first = fetch(kept());
    CompletableFuture<LockHandle> next = ask(kept().listener(heard));
    server.send(
        ScriptedServer.event(
            AcquireResponse.newBuilder()
                .setReleaseRequested(
                    ReleaseRequested.newBuilder()
                        .setName(LOCK)
                        .setRequester("ops")
                        .setReason("deploy")),
            lastId(),
            2));
    server.send(ScriptedServer.contended(lastId(), 3, LOCK, 2));
    // When
    first.close();
    // Then
    assertThat(now(next).isValid()).isTrue();
    assertThat(heard.events())
        .containsExactly("queued 1 behind ", "granted", "contended 2", "asked by ops: deploy");
  }

  @Test
  void waiterThatIsCancelledWhenItIsToAskTheServerIsForgotten() {
    // Given: whoever loses the lock cancels the one who waits for it
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
    // Then: whether it has asked or not, nothing of it is left
    scripted.clock.advance(Duration.ofSeconds(1));
    assertThat(used.isValid()).isFalse();
    assertThat(released()).hasSize(asked().size() - 1);
    LockHandle next = fetch(kept(), 9, 0);
    assertThat(next.isValid()).isTrue();
  }
}
