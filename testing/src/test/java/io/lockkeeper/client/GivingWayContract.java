package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** How holders are asked to give way, made to, limited, and what they say of themselves. */
public abstract class GivingWayContract extends Contract {

  private LockRequest request(Recording heard) {
    return LockRequest.of(lock).listener(heard);
  }

  @Test
  void holderHearsWhoAsksForTheLockAndWhyAndByWhen() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient asker = client("the asker");
    List<ReleaseRequest> heard = new CopyOnWriteArrayList<>();
    LockHandle held =
        a.lock(
            LockRequest.of(lock)
                .listener(
                    new LockListener() {
                      @Override
                      public void onReleaseRequested(LockHandle handle, ReleaseRequest request) {
                        heard.add(request);
                      }
                    }));
    // When
    List<Contender> asked = asker.requestRelease(lock, "deploy", Duration.ofSeconds(90));
    await().until(() -> heard.size() == 1);
    // Then
    assertThat(asked).extracting(Contender::holder).containsExactly("a");
    assertThat(heard.get(0).requester()).isEqualTo("the asker");
    assertThat(heard.get(0).reason()).isEqualTo("deploy");
    assertThat(heard.get(0).deadline())
        .hasValueSatisfying(
            left -> assertThat(left).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(90)));
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void lockThatNobodyHoldsIsAskedOfNobody() {
    assertThat(client("a").requestRelease(lock, "deploy")).isEmpty();
  }

  @Test
  void answerOfTheHolderIsShownToOthers() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockkeeperClient b = client("b");
    Recording heard = new Recording();
    LockHandle held = a.lock(request(heard));
    b.requestRelease(lock, "deploy");
    await().until(() -> heard.events().contains("asked by b: deploy"));
    // When
    held.answerRelease(Duration.ofSeconds(30)).join();
    // Then
    await()
        .untilAsserted(
            () ->
                assertThat(b.getLock(lock).holders())
                    .singleElement()
                    .satisfies(
                        holder ->
                            assertThat(holder.releaseIn())
                                .hasValueSatisfying(
                                    left ->
                                        assertThat(left)
                                            .isLessThanOrEqualTo(Duration.ofSeconds(30)))));
  }

  @Test
  void forcedReleaseIsALossAndTheNextIsTold() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    Recording heard = new Recording();
    LockHandle held = client("a").lock(request(heard));
    CompletableFuture<LockHandle> next = queue(b, LockRequest.of(lock), lock);
    // When
    int released = b.forceRelease(lock, "it hangs");
    // Then
    assertThat(released).isEqualTo(1);
    await().until(() -> heard.events().contains("lost FORCED"));
    assertThat(held.isValid()).isFalse();
    assertThat(granted(next).previousEnd()).isEqualTo(PreviousEnd.FORCED);
    assertThatThrownBy(held::checkValid).isInstanceOf(LockLostException.class);
    assertThat(held.releaseForResult().join().outcome()).isEqualTo(ReleaseResult.Outcome.LOST);
    assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
  }

  @Test
  void forcedReleaseOfWhatNobodyHoldsIsRefused() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle held = a.lock(lock);
    // When / Then
    assertThatThrownBy(() -> a.forceRelease(lock + "/free", "why not"))
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> assertThat(e.code()).isEqualTo(Status.Code.NOT_FOUND));
    assertThat(failure(a.async().forceRelease(lock, held.fencingToken() + 1, "another's token")))
        .isInstanceOf(RequestRefusedException.class);
    assertThat(held.isValid()).isTrue();
    assertThat(a.async().forceRelease(lock, held.fencingToken(), "its token").join()).isEqualTo(1);
  }

  @Test
  void forcedReleaseWithAGraceAsksFirst() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    Recording heard = new Recording();
    client("a").lock(request(heard));
    // When
    int asked = b.async().forceReleaseAfter(Duration.ofMillis(500), lock, "deploy").join();
    // Then
    assertThat(asked).isEqualTo(1);
    await().until(() -> heard.events().contains("lost FORCED"));
    assertThat(heard.events())
        .satisfies(
            events -> assertThat(events.get(0)).isEqualTo("granted"),
            events -> assertThat(events.get(1)).startsWith("asked by").endsWith("deploy"));
  }

  @Test
  void lockThatWasHeldForMaxHoldIsTakenAway() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    Recording heard = new Recording();
    LockHandle held = client("a").lock(request(heard).maxHold(Duration.ofMillis(300)));
    Duration atMost = held.remaining();
    // When
    LockHandle next = granted(b.acquire(LockRequest.of(lock)));
    // Then
    assertThat(atMost).isLessThanOrEqualTo(Duration.ofMillis(300));
    assertThat(held.isValid()).isFalse();
    assertThat(next.previousEnd()).isEqualTo(PreviousEnd.FORCED);
    await().until(() -> heard.events().contains("lost MAX_HOLD"));
    assertThat(heard.events()).containsOnlyOnce("lost MAX_HOLD");
  }

  @Test
  void lockDelayKeepsTheNextWaitingAfterALossAndNotAfterARelease() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    String closed = lock + "/closed";
    Duration delay = Duration.ofSeconds(1);
    LockRequest delaying = LockRequest.of(lock).lockDelay(delay);
    client("a").lock(delaying);
    client("a").lock(LockRequest.of(closed).lockDelay(Duration.ofHours(1)));
    CompletableFuture<LockHandle> next = queue(b, LockRequest.of(lock), lock);
    // When
    long releasedNanos = System.nanoTime();
    b.forceRelease(lock, "it hangs");
    b.forceRelease(closed, "it hangs");
    // Then
    assertThat(b.getLock(closed).delayedFor())
        .hasValueSatisfying(
            left -> assertThat(left).isBetween(Duration.ofMillis(1), Duration.ofHours(1)));
    LockHandle granted = granted(next);
    assertThat(System.nanoTime() - releasedNanos).isGreaterThanOrEqualTo(delay.toNanos());
    granted.close();
    b.lock(delaying).close();
    assertThat(b.getLock(lock).delayedFor()).isEmpty();
  }

  @Test
  void metadataThatAHolderReplacesIsSeenByAll() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    LockHandle held = client("a").lock(LockRequest.of(lock).metadata("step", "1"));
    List<String> told = new CopyOnWriteArrayList<>();
    LockListener waiter =
        new LockListener() {
          @Override
          public void onQueued(int ahead, List<Contender> holders) {
            holders.forEach(h -> told.add(h.metadata().getOrDefault("step", "none")));
          }
        };
    CompletableFuture<LockHandle> unused = queue(b, LockRequest.of(lock).listener(waiter), lock);
    RecordingWatch seen = new RecordingWatch();
    try (Watch watch = b.watchLocks(List.of(lock), seen)) {
      await().until(() -> seen.events().contains("end"));
      // When
      held.updateMetadata(Map.of("step", "2")).join();
      // Then
      await().until(() -> told.contains("2"));
      await().until(() -> seen.events().contains("METADATA " + lock));
    }
    assertThat(told).startsWith("1");
    assertThat(b.getLock(lock).holders())
        .singleElement()
        .satisfies(h -> assertThat(h.metadata()).isEqualTo(Map.of("step", "2")));
  }

  @Test
  void updatesOfMetadataTakeEffectInTheirOrder() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    LockHandle held = a.lock(lock);
    // When
    CompletableFuture<?>[] updates = new CompletableFuture<?>[20];
    for (int i = 0; i < updates.length; i++) {
      updates[i] = held.updateMetadata(Map.of("step", Integer.toString(i)));
    }
    // Then
    assertThat(CompletableFuture.allOf(updates)).succeedsWithin(LONG);
    assertThat(a.getLock(lock).holders().get(0).metadata()).isEqualTo(Map.of("step", "19"));
  }

  @Test
  void handleThatIsReleasedHasNothingToSayAnyMore() throws InterruptedException {
    // Given
    LockHandle held = client("a").lock(lock);
    held.close();
    // When
    Throwable failure = failure(held.updateMetadata(Map.of("step", "2")));
    // Then
    assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessageContaining(lock);
  }
}
