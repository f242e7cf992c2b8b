package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.DeadlockCheck;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients of two coordinators that wait for one another in a circle. */
final class DeadlockIT {

  private static final Duration TTL = Duration.ofMinutes(1);

  @AutoClose
  private static final ServerProcess otherServer =
      ServerProcess.start(Rig.shared().zookeeper().connectString());

  private final Rig rig = Rig.shared();
  private final ManagedChannel here = rig.connect();
  private final ManagedChannel there = otherServer.connect();

  @Test
  void youngestOfACycleAcrossCoordinatorsIsRefusedWithTheCycleSpelledOut() {
    // Given
    SessionStream first = holding(here, "first", "deadlock/a");
    SessionStream second = holding(there, "second", "deadlock/b");
    acquireAs(first, "main", "deadlock/b", "wants b");
    first.await("wants b", EventCase.QUEUED);

    // When
    acquireAs(second, "main", "deadlock/a", "wants a");

    // Then
    NotAcquired refusal = awaitRefusal(second, "wants a");
    assertThat(refusal.getReason()).isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(refusal.getMessage()).contains("deadlock/a", "deadlock/b", "first", "second");
    second.release("holds deadlock/b");
    first.await("wants b", EventCase.GRANTED);
    first.close();
    second.close();
  }

  @Test
  void cycleOfThreeIsFoundAndTheOtherTwoGoOn() {
    // Given
    SessionStream first = holding(here, "first", "deadlock/3a");
    SessionStream second = holding(there, "second", "deadlock/3b");
    SessionStream third = holding(here, "third", "deadlock/3c");
    acquireAs(first, "main", "deadlock/3b", "wants b");
    first.await("wants b", EventCase.QUEUED);
    acquireAs(second, "main", "deadlock/3c", "wants c");
    second.await("wants c", EventCase.QUEUED);

    // When
    acquireAs(third, "main", "deadlock/3a", "wants a");

    // Then
    NotAcquired refusal = awaitRefusal(third, "wants a");
    assertThat(refusal.getReason()).isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(refusal.getMessage()).contains("deadlock/3a", "deadlock/3b", "deadlock/3c");
    third.close();
    second.await("wants c", EventCase.GRANTED);
    second.close();
    first.await("wants b", EventCase.GRANTED);
    first.close();
  }

  @Test
  void ownersOfOneLeaseAreFoundWaitingForEachOther() {
    // Given
    SessionStream session = SessionStream.open(here, TTL);
    session.awaitOpened();
    acquireAs(session, "one", "deadlock/owner-a", "one holds a");
    acquireAs(session, "two", "deadlock/owner-b", "two holds b");
    session.await("one holds a", EventCase.GRANTED);
    session.await("two holds b", EventCase.GRANTED);
    acquireAs(session, "one", "deadlock/owner-b", "one wants b");
    session.await("one wants b", EventCase.QUEUED);

    // When
    acquireAs(session, "two", "deadlock/owner-a", "two wants a");

    // Then
    NotAcquired refusal = awaitRefusal(session, "two wants a");
    assertThat(refusal.getReason()).isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    session.release("two holds b");
    session.await("one wants b", EventCase.GRANTED);
    session.close();
  }

  @Test
  void requestThatSkipsTheCheckWaitsOutItsTimeAndIsNoPartOfACycle() {
    // Given
    SessionStream first = holding(here, "first", "deadlock/skip-a");
    SessionStream second = holding(there, "second", "deadlock/skip-b");
    first.acquire(
        Asking.request("deadlock/skip-b")
            .setRequestId("wants b")
            .setOwner("main")
            .setDeadlockCheck(DeadlockCheck.DEADLOCK_CHECK_OFF)
            .setWaitTimeout(Durations.fromMillis(1_500))
            .build());
    first.await("wants b", EventCase.QUEUED);

    // When
    acquireAs(second, "main", "deadlock/skip-a", "wants a");

    // Then
    assertThat(awaitRefusal(first, "wants b").getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
    first.close();
    second.await("wants a", EventCase.GRANTED);
    second.close();
  }

  @Test
  void tasksWithoutAnOwnerThatShareALeaseAreNoCycle() {
    // Given: two processes, each with one lease for unrelated tasks
    SessionStream first = holding(here, "first", "deadlock/tasks-a", "");
    SessionStream second = holding(there, "second", "deadlock/tasks-b", "");
    first.acquire("deadlock/tasks-b", "wants b");
    first.await("wants b", EventCase.QUEUED);

    // When
    second.acquire("deadlock/tasks-a", "wants a");
    second.await("wants a", EventCase.QUEUED);
    first.release("holds deadlock/tasks-a");

    // Then
    second.await("wants a", EventCase.GRANTED);
    second.release("holds deadlock/tasks-b");
    first.await("wants b", EventCase.GRANTED);
    first.close();
    second.close();
  }

  @Test
  void chainOfWaitsWithoutACycleIsLeftAlone() {
    // Given
    SessionStream first = holding(here, "first", "deadlock/chain-a");
    SessionStream second = holding(there, "second", "deadlock/chain-b");
    SessionStream third = holding(here, "third", "deadlock/chain-c");
    acquireAs(third, "main", "deadlock/chain-b", "wants b");
    third.await("wants b", EventCase.QUEUED);

    // When
    acquireAs(second, "main", "deadlock/chain-a", "wants a");
    second.await("wants a", EventCase.QUEUED);

    // Then
    first.close();
    second.await("wants a", EventCase.GRANTED);
    second.close();
    third.await("wants b", EventCase.GRANTED);
    third.close();
  }

  /**
   * Clients pool the requests of independent tasks in one lease and name no owners: in one queue
   * they are contenders like any others, whoever stands between them.
   */
  @ParameterizedTest
  @EnumSource(names = {"LOCK_MODE_EXCLUSIVE", "LOCK_MODE_WRITE", "LOCK_MODE_READ"})
  void tasksOfOneLeaseThatNameNoOwnersMayStandOnBothSidesOfAnotherInOneQueue(LockMode mode) {
    // Given: one task holds, another client waits
    String lock = "deadlock/pooled-" + mode;
    SessionStream pooled = SessionStream.open(here, TTL);
    SessionStream other = SessionStream.open(here, TTL);
    pooled.awaitOpened();
    other.awaitOpened();
    acquire(pooled, lock, mode, "first task");
    pooled.await("first task", EventCase.GRANTED);
    acquire(
        other, lock, mode == LockMode.LOCK_MODE_READ ? LockMode.LOCK_MODE_WRITE : mode, "waits");
    other.await("waits", EventCase.QUEUED);

    // When
    acquire(pooled, lock, mode, "second task");
    pooled.await("second task", EventCase.QUEUED);
    pooled.keepAliveAnswered(1);

    // Then
    pooled.release("first task");
    other.await("waits", EventCase.GRANTED);
    other.release("waits");
    pooled.await("second task", EventCase.GRANTED);
    pooled.close();
    other.close();
  }

  private static void acquire(SessionStream session, String lock, LockMode mode, String id) {
    session.acquire(
        AcquireRequest.newBuilder()
            .setRequestId(id)
            .addLocks(LockRequest.newBuilder().setName(lock).setMode(mode))
            .build());
  }

  private static SessionStream holding(ManagedChannel server, String holder, String lock) {
    return holding(server, holder, lock, "main");
  }

  private static SessionStream holding(
      ManagedChannel server, String holder, String lock, String owner) {
    SessionStream session =
        SessionStream.with(
            server,
            OpenSession.newBuilder()
                .setHolder(holder)
                .setTtl(Durations.fromSeconds(TTL.toSeconds()))
                .build());
    session.awaitOpened();
    acquireAs(session, owner, lock, "holds " + lock);
    session.await("holds " + lock, EventCase.GRANTED);
    return session;
  }

  private static void acquireAs(
      SessionStream session, String owner, String lock, String requestId) {
    session.acquire(Asking.request(lock).setOwner(owner).setRequestId(requestId).build());
  }

  private static NotAcquired awaitRefusal(SessionStream session, String requestId) {
    SessionResponse response = session.await(requestId, EventCase.NOT_ACQUIRED).value();
    return response.getEvent().getNotAcquired();
  }
}
