package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Whichever coordinator is asked, the answer is the same. */
final class SameAnswersIT {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose
  private static final ServerProcess otherServer =
      ServerProcess.start(Rig.shared().zookeeper().connectString());

  private final ManagedChannel here = Rig.shared().connect();
  private final ManagedChannel there = otherServer.connect();
  private final String lock = "same-answers/" + UUID.randomUUID();

  private static String facts(Contender holder) {
    return holder.getLeaseTag() + " " + holder.getHolder() + " " + holder.getFencingToken();
  }

  private List<String> seenBy(ManagedChannel channel) {
    LockState got =
        LockServiceGrpc.newBlockingStub(channel)
            .getLock(GetLockRequest.newBuilder().setName(lock).build())
            .getLock();
    LockState listed =
        LockServiceGrpc.newBlockingStub(channel)
            .listLocks(ListLocksRequest.newBuilder().setPrefix(lock).build())
            .getLocks(0);
    return List.of(facts(got.getHolders(0)), facts(listed.getHolders(0)));
  }

  @Test
  void holderAndTokenAreTheSameOnEveryCoordinator() {
    // Given
    SessionStream session = SessionStream.open(here, Duration.ofSeconds(15));
    String tag = session.awaitOpened().getLeaseTag();
    session.acquire(lock, "held");
    long token = session.awaitToken("held");
    await().atMost(LONG).until(() -> !Asking.holderTokens(there, lock).isEmpty());
    // When
    List<String> seenHere = seenBy(here);
    List<String> seenThere = seenBy(there);
    // Then
    assertThat(seenThere).isEqualTo(seenHere);
    assertThat(seenThere)
        .allSatisfy(seen -> assertThat(seen).startsWith(tag).endsWith(String.valueOf(token)));
    session.close();
  }

  @Test
  void lockWithoutALeaseIsReleasedAtAnyServer() {
    // Given
    Asking holder = Asking.forLock(here, lock);
    holder.awaitGrant();
    // When
    ReleaseOutcome outcome = holder.release(there).getOutcome();
    // Then
    assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    assertThat(holder.awaitEnd().isOk()).isTrue();
  }

  @Test
  void watchElsewhereShowsNoHolderWithoutItsToken() {
    // Given
    Iterator<WatchResponse> events =
        LockServiceGrpc.newBlockingStub(there)
            .withDeadlineAfter(LONG.toSeconds(), TimeUnit.SECONDS)
            .watch(WatchRequest.newBuilder().addNames(lock).build());
    assertThat(events.next().hasSnapshotEnd()).isTrue();
    // When
    Asking holder = Asking.forLock(here, lock);
    long token = holder.awaitToken();
    // Then
    WatchResponse event = events.next();
    while (event.getChange().getHoldersCount() == 0) {
      event = events.next();
    }
    assertThat(event.getChange().getHolders(0).getFencingToken()).isEqualTo(token);
    assertThat(event.getChange().getHolders(0).getLeaseTag()).isNotEmpty();
    holder.release();
  }

  @Test
  void waiterElsewhereIsToldWhoHolds() {
    // Given
    Asking holder = Asking.forLock(here, lock);
    long token = holder.awaitToken();
    await().atMost(LONG).until(() -> !Asking.holderTokens(there, lock).isEmpty());
    // When
    Asking waiter = Asking.forLock(there, lock);
    // Then
    assertThat(
            waiter
                .await(EventCase.QUEUED)
                .value()
                .getQueued()
                .getPositions(0)
                .getHolders(0)
                .getFencingToken())
        .isEqualTo(token);
    waiter.hangUp();
    holder.release();
  }

  @Test
  void openingWithTheSameSecretFindsTheSameLeaseAnywhere() {
    // Given
    OpenLeaseRequest request =
        OpenLeaseRequest.newBuilder()
            .setLeaseSecret(UUID.randomUUID() + "-" + UUID.randomUUID())
            .build();
    // When
    OpenLeaseResponse first = LeaseServiceGrpc.newBlockingStub(here).openLease(request);
    OpenLeaseResponse again = LeaseServiceGrpc.newBlockingStub(here).openLease(request);
    OpenLeaseResponse elsewhere = LeaseServiceGrpc.newBlockingStub(there).openLease(request);
    RenewLeaseResponse renewed =
        LeaseServiceGrpc.newBlockingStub(there)
            .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(first.getLeaseId()).build());
    // Then
    assertThat(again.getLeaseId()).isEqualTo(first.getLeaseId());
    assertThat(elsewhere.getLeaseId()).isEqualTo(first.getLeaseId());
    assertThat(elsewhere.getCoordinatorId()).isEqualTo(first.getCoordinatorId());
    assertThat(renewed.getCoordinatorId()).isEqualTo(first.getCoordinatorId());
    assertThat(renewed.getEpoch()).isEqualTo(first.getEpoch()).isPositive();
    assertThat(renewed.getKeepAliveInterval().getSeconds()).isPositive();
  }
}
