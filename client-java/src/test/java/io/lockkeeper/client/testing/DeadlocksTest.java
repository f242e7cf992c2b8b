package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DeadlocksTest extends OnInMemoryServer {

  private static final String THIRD = "orders/44";

  private final String[] lease = new String[3];

  private void open() {
    for (int i = 0; i < lease.length; i++) {
      lease[i] = lease();
    }
  }

  private static void assertDeadlock(Heard<AcquireResponse> heard, String... words) {
    NotAcquired refusal = heard.last().getNotAcquired();
    assertThat(refusal.getReason()).isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(refusal.getMessage()).contains(words);
  }

  @Test
  void youngestOfACycleIsRefusedWithTheCycleSpelledOut() {
    // Given
    open();
    acquire(request(lease[0], "", "1", exclusive(LOCK)));
    acquire(request(lease[1], "worker", "1", exclusive(OTHER)));
    Heard<AcquireResponse> first = acquire(request(lease[0], "", "2", exclusive(OTHER)));
    // When
    Heard<AcquireResponse> second = acquire(request(lease[1], "worker", "2", exclusive(LOCK)));
    // Then
    assertThat(events(first)).containsExactly("QUEUED");
    assertDeadlock(
        second, LOCK, OTHER, lease[0].substring(0, 16), lease[1].substring(0, 16), "worker");
  }

  @Test
  void cycleOfThreeIsFoundAndTheOthersGoOn() {
    // Given
    open();
    acquire(request(lease[0], "", "1", exclusive(LOCK)));
    AcquireRequest.Builder third = request(lease[2], "", "1", write(THIRD));
    acquire(request(lease[1], "", "1", exclusive(OTHER)));
    acquire(third);
    Heard<AcquireResponse> a = acquire(request(lease[0], "", "2", exclusive(OTHER)));
    Heard<AcquireResponse> b = acquire(request(lease[1], "", "2", read(THIRD)));
    // When
    Heard<AcquireResponse> c = acquire(request(lease[2], "", "2", exclusive(LOCK)));
    release(third);
    // Then
    assertDeadlock(c, LOCK, OTHER, THIRD);
    assertThat(events(a)).containsExactly("QUEUED");
    assertThat(events(b)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void queueOfWaitersIsNoCycle() {
    // Given
    open();
    acquire(request(lease[0], "", "1", exclusive(LOCK)));
    acquire(request(lease[1], "", "1", exclusive(OTHER)));
    Heard<AcquireResponse> a = acquire(request(lease[1], "", "2", exclusive(LOCK)));
    // When
    Heard<AcquireResponse> b = acquire(request(lease[2], "", "1", exclusive(OTHER)));
    // Then
    assertThat(events(a)).containsExactly("QUEUED");
    assertThat(events(b)).containsExactly("QUEUED");
  }

  @Test
  void ownersOfOneLeaseAreDifferentActors() {
    // Given
    open();
    acquire(request(lease[0], "a", "1", exclusive(LOCK)));
    acquire(request(lease[0], "b", "2", exclusive(OTHER)));
    acquire(request(lease[0], "a", "3", exclusive(OTHER)));
    // When
    Heard<AcquireResponse> closing = acquire(request(lease[0], "b", "4", exclusive(LOCK)));
    // Then
    assertDeadlock(closing, "owner a", "owner b");
  }

  @Test
  void tasksWithoutAnOwnerMayWaitForOneAnotherInOneLease() {
    // Given
    open();
    acquire(request(lease[0], "", "1", exclusive(LOCK)));
    // When
    Heard<AcquireResponse> second = acquire(request(lease[0], "", "2", exclusive(LOCK)));
    // Then
    assertThat(events(second)).containsExactly("QUEUED");
  }

  @Test
  void tasksWithoutAnOwnerMayQueueForTheirLeasesLockBehindAnotherLease() {
    // Given
    open();
    AcquireRequest.Builder held = request(lease[0], "", "1", exclusive(LOCK));
    acquire(held);
    Heard<AcquireResponse> between = acquire(request(lease[1], "", "1", exclusive(LOCK)));
    // When
    Heard<AcquireResponse> second = acquire(request(lease[0], "", "2", exclusive(LOCK)));
    release(held);
    // Then
    assertThat(events(between)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(second)).containsExactly("QUEUED");
  }

  @Test
  void ownerThatAsksTwiceBeforeItIsGrantedWaitsOnBothSidesOfAnother() {
    // Given
    open();
    AcquireRequest.Builder held = request(lease[2], "", "1", exclusive(LOCK));
    acquire(held);
    AcquireRequest.Builder me = request(lease[0], "me", "1", exclusive(LOCK));
    Heard<AcquireResponse> first = acquire(me);
    Heard<AcquireResponse> between = acquire(request(lease[1], "", "1", exclusive(LOCK)));
    // When
    Heard<AcquireResponse> second = acquire(request(lease[0], "me", "2", exclusive(LOCK)));
    release(held);
    release(me);
    // Then
    assertThat(events(first)).containsExactly("QUEUED", "GRANTED", "RELEASED");
    assertThat(events(between)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(second)).containsExactly("QUEUED");
  }

  @Test
  void cycleIsFoundAmongHundredsThatQueueForSeveralLocks() {
    // Given
    open();
    String[] names = {LOCK, OTHER, THIRD, "orders/45"};
    AcquireRequest.Builder all = request(lease[0], "me", "1");
    Stream.of(names).forEach(name -> all.addLocks(exclusive(name)));
    acquire(all);
    acquire(request(lease[1], "you", "1", exclusive("orders/46")));
    List<Heard<AcquireResponse>> crowd = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String next = names[(i + 1 + i % 3) % 4];
      String task = "task " + i;
      crowd.add(
          acquire(request(lease[i % 3], task, task, exclusive(names[i % 4]), exclusive(next))));
    }
    Heard<AcquireResponse> behind = acquire(request(lease[1], "you", "2", exclusive(THIRD)));
    // When
    Heard<AcquireResponse> closing = acquire(request(lease[0], "me", "2", exclusive("orders/46")));
    // Then
    assertDeadlock(closing, "owner me", "owner you", "orders/46");
    assertThat(events(behind)).containsExactly("QUEUED");
    assertThat(crowd).allSatisfy(heard -> assertThat(events(heard)).containsExactly("QUEUED"));
  }

  @Test
  void ownerThatWaitsBehindOneWhoWaitsForItsPermitsIsRefused() {
    // Given
    open();
    acquire(request(lease[0], "me", "1", permits(LOCK, 1, 3)));
    acquire(request(lease[1], "", "1", permits(LOCK, 1, 3)));
    Heard<AcquireResponse> all = acquire(request(lease[2], "", "1", permits(LOCK, 3, 3)));
    // When
    Heard<AcquireResponse> more = acquire(request(lease[0], "me", "2", permits(LOCK, 1, 3)));
    // Then
    assertThat(events(all)).containsExactly("QUEUED");
    assertDeadlock(more, LOCK, "owner me");
  }

  @Test
  void permitsThatSomebodyOutsideTheCycleGivesBackMakeItNone() {
    // Given
    open();
    acquire(request(lease[0], "", "1", permits(LOCK, 1, 2)));
    acquire(request(lease[2], "", "1", permits(LOCK, 1, 2)));
    acquire(request(lease[1], "", "1", exclusive(OTHER)));
    acquire(request(lease[0], "", "2", exclusive(OTHER)));
    // When
    Heard<AcquireResponse> one = acquire(request(lease[1], "", "2", permits(LOCK, 1, 2)));
    // Then
    assertThat(events(one)).containsExactly("QUEUED");
  }

  @Test
  void permitsThatOnlyTheCycleHasAreACycle() {
    // Given
    open();
    acquire(request(lease[0], "", "1", permits(LOCK, 1, 2)));
    acquire(request(lease[1], "", "1", exclusive(OTHER)));
    acquire(request(lease[0], "", "2", exclusive(OTHER)));
    // When
    Heard<AcquireResponse> both = acquire(request(lease[1], "", "2", permits(LOCK, 2, 2)));
    // Then
    assertDeadlock(both, LOCK, OTHER);
  }

  @Test
  void shrinkingLimitThatClosesACycleRefusesTheYoungest() {
    // Given
    open();
    acquire(request(lease[0], "", "1", permits(LOCK, 1, 3)));
    acquire(request(lease[2], "", "1", permits(LOCK, 2, 3)));
    acquire(request(lease[1], "", "1", exclusive(OTHER)));
    Heard<AcquireResponse> older = acquire(request(lease[0], "", "2", exclusive(OTHER)));
    Heard<AcquireResponse> younger = acquire(request(lease[1], "", "2", permits(LOCK, 1, 3)));
    // When
    int previous =
        locks
            .configureLock(ConfigureLockRequest.newBuilder().setName(LOCK).setLimit(1).build())
            .getPreviousLimit();
    clock.settle();
    // Then
    assertThat(previous).isEqualTo(3);
    assertThat(events(older)).containsExactly("QUEUED");
    assertDeadlock(younger, LOCK, OTHER);
  }

  @Test
  void requestThatSkipsTheCheckIsNeverRefusedForACycle() {
    // Given
    open();
    acquire(request(lease[0], "", "1", exclusive(LOCK)));
    acquire(request(lease[1], "", "1", exclusive(OTHER)));
    acquire(request(lease[0], "", "2", exclusive(OTHER)));
    // When
    Heard<AcquireResponse> closing =
        acquire(request(lease[1], "", "2", exclusive(LOCK)).setSkipDeadlockCheck(true));
    // Then
    assertThat(events(closing)).containsExactly("QUEUED");
  }

  @Test
  void holdOfARequestThatSkippedTheCheckMakesNoCycle() {
    // Given
    open();
    acquire(request(lease[0], "", "1", exclusive(LOCK)).setSkipDeadlockCheck(true));
    acquire(request(lease[1], "", "1", exclusive(OTHER)));
    acquire(request(lease[0], "", "2", exclusive(OTHER)));
    // When
    Heard<AcquireResponse> closing = acquire(request(lease[1], "", "2", exclusive(LOCK)));
    // Then: what holds it may be a task that waits for nothing
    assertThat(events(closing)).containsExactly("QUEUED");
  }

  @Test
  void cycleOverTheQueuesOfSeveralLocksInOneRequestIsFound() {
    // Given
    open();
    acquire(request(lease[0], "", "1", exclusive(LOCK)));
    acquire(request(lease[1], "", "1", exclusive(OTHER), exclusive(LOCK)));
    // When
    Heard<AcquireResponse> closing = acquire(request(lease[0], "", "2", exclusive(OTHER)));
    // Then
    assertDeadlock(closing, LOCK, OTHER);
  }
}
