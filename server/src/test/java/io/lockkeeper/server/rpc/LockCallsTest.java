package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.lockkeeper.server.coordinator.api.Coordinator.TokenCheck;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PermitsKind.Permits;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.testing.FakeCoordinator.MetadataToUpdate;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CheckTokenResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.UpdateMetadataResponse;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockCallsTest {

  @AutoClose private final InProcess server = new InProcess();

  @ParameterizedTest
  @EnumSource(Answer.ReleaseOutcome.class)
  void releaseIsAnsweredWithItsOutcome(Answer.ReleaseOutcome outcome) {
    // Given
    Received<ReleaseRequest, ReleaseResponse> client = Received.all();
    server
        .locks()
        .release(
            ReleaseRequest.newBuilder()
                .setLeaseId(ViewSamples.LEASE.toString())
                .setRequestId("req-1")
                .setFencingToken(77)
                .build(),
            client);
    var asked = server.coordinator.releases.next();
    // When
    asked.answer().complete(new Answer.ReleaseDone(outcome, 2));
    // Then
    assertThat(asked.what().lease()).isEqualTo(ViewSamples.LEASE);
    assertThat(asked.what().requestId()).isEqualTo("req-1");
    assertThat(asked.what().token()).isEqualTo(77);
    ReleaseResponse response = client.next();
    assertThat(response.getOutcome().name()).isEqualTo("RELEASE_OUTCOME_" + outcome);
    assertThat(response.getRemainingHolds()).isEqualTo(2);
  }

  @Test
  void releaseByAStrangerIsRefused() {
    // Given
    Received<ReleaseRequest, ReleaseResponse> client = Received.all();
    server
        .locks()
        .release(
            ReleaseRequest.newBuilder()
                .setLeaseId(ViewSamples.LEASE.toString())
                .setRequestId("req-1")
                .build(),
            client);
    // When
    server
        .coordinator
        .releases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.WRONG_TOKEN));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @Test
  void lockIsShownWithTheHeadOfItsQueue() {
    // Given
    Received<GetLockRequest, GetLockResponse> client = Received.all();
    server.locks().getLock(GetLockRequest.newBuilder().setName("orders/42").build(), client);
    var asked = server.coordinator.getLocks.next();
    // When
    asked.answer().complete(ViewSamples.lock("orders/42"));
    // Then
    assertThat(asked.what().queueLimit()).isEqualTo(100);
    var lock = client.next().getLock();
    assertThat(lock.getName()).isEqualTo("orders/42");
    assertThat(lock.getHoldersCount()).isEqualTo(1);
    assertThat(lock.getQueueLength()).isEqualTo(1);
    assertThat(lock.getQueueCount()).isEqualTo(1);
    assertThat(lock.getConfiguredLimit()).isZero();
    assertThat(lock.hasDelayedFor()).isFalse();
  }

  @Test
  void lockIsShownWithItsLimitAndItsDelay() {
    // Given
    Received<GetLockRequest, GetLockResponse> client = Received.all();
    server.locks().getLock(GetLockRequest.newBuilder().setName("pool").build(), client);
    // When
    server
        .coordinator
        .getLocks
        .next()
        .answer()
        .complete(
            ViewSamples.delayed(
                "pool", ViewSamples.yielding(new Permits(3, 5), 9), 4, 7_000_000_000L));
    // Then
    var lock = client.next().getLock();
    assertThat(lock.getConfiguredLimit()).isEqualTo(4);
    assertThat(lock.getDelayedFor().getSeconds()).isEqualTo(7);
    assertThat(lock.getHolders(0).getPermits()).isEqualTo(3);
    assertThat(lock.getHolders(0).getLimit()).isEqualTo(5);
    assertThat(lock.getHolders(0).getReleaseIn())
        .isEqualTo(com.google.protobuf.Duration.newBuilder().setNanos(9).build());
    assertThat(lock.getHolders(0).getOwner()).isEqualTo("worker-1");
  }

  @Test
  void metadataOfAnAcquisitionIsReplaced() {
    // Given
    Received<UpdateMetadataRequest, UpdateMetadataResponse> client = Received.all();
    // When
    server
        .locks()
        .updateMetadata(
            UpdateMetadataRequest.newBuilder()
                .setLeaseId(ViewSamples.LEASE.toString())
                .setRequestId("req-1")
                .putMetadata("pod", "b")
                .build(),
            client);
    var asked = server.coordinator.metadataUpdates.next();
    asked.answer().complete(new Answer.Described());
    // Then
    assertThat(asked.what())
        .isEqualTo(new MetadataToUpdate(ViewSamples.LEASE, "req-1", Map.of("pod", "b")));
    assertThat(client.next()).isEqualTo(UpdateMetadataResponse.getDefaultInstance());
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void metadataOfAnAcquisitionThatHasEndedIsRefused() {
    // Given
    Received<UpdateMetadataRequest, UpdateMetadataResponse> client = Received.all();
    server
        .locks()
        .updateMetadata(
            UpdateMetadataRequest.newBuilder()
                .setLeaseId(ViewSamples.LEASE.toString())
                .setRequestId("req-1")
                .build(),
            client);
    // When
    server
        .coordinator
        .metadataUpdates
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.ENDED));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1_000_000})
  void limitIsSetAndTheOneBeforeIsTold(int limit) {
    // Given
    Received<ConfigureLockRequest, ConfigureLockResponse> client = Received.all();
    // When
    server
        .locks()
        .configureLock(
            ConfigureLockRequest.newBuilder().setName("pool").setLimit(limit).build(), client);
    var asked = server.coordinator.configurations.next();
    asked.answer().complete(new Answer.LimitSet(5));
    // Then
    assertThat(asked.what().lock()).isEqualTo(new LockName("pool"));
    assertThat(asked.what().limit().orElse(0)).isEqualTo(limit);
    assertThat(asked.what().limit().isPresent()).isEqualTo(limit > 0);
    assertThat(client.next().getPreviousLimit()).isEqualTo(5);
  }

  @Test
  void locksComeInPagesWithoutTheirQueues() {
    // Given
    Received<ListLocksRequest, ListLocksResponse> first = Received.all();
    Received<ListLocksRequest, ListLocksResponse> second = Received.all();
    ListLocksRequest request = ListLocksRequest.newBuilder().setPrefix("é/").setPageSize(1).build();
    server.locks().listLocks(request, first);
    var asked = server.coordinator.listLocks.next();
    asked.answer().complete(List.of(ViewSamples.lock("é/1"), ViewSamples.lock("é/2")));
    ListLocksResponse page = first.next();
    // When
    server
        .locks()
        .listLocks(request.toBuilder().setPageToken(page.getNextPageToken()).build(), second);
    var next = server.coordinator.listLocks.next();
    next.answer().complete(List.of(ViewSamples.lock("é/2")));
    // Then
    assertThat(asked.what().prefix()).isEqualTo("é/");
    assertThat(asked.what().limit()).isEqualTo(1);
    assertThat(asked.what().after()).isEmpty();
    assertThat(page.getLocksList()).hasSize(1);
    assertThat(page.getLocks(0).getQueueCount()).isZero();
    assertThat(page.getLocks(0).getQueueLength()).isEqualTo(1);
    assertThat(next.what().after()).contains(new LockName("é/1"));
    assertThat(second.next().getNextPageToken()).isEmpty();
  }

  @Test
  void pageThatGrowsTooLargeForAClientEndsEarlyAndSaysWhatFollows() {
    // Given
    Received<ListLocksRequest, ListLocksResponse> client = Received.all();
    server.locks().listLocks(ListLocksRequest.newBuilder().setPageSize(1_000).build(), client);
    List<Contender> readers = Collections.nCopies(1_000, wordy(ReadWriteKind.READ));
    List<LockView> locks =
        IntStream.range(0, 5).mapToObj(i -> ViewSamples.held("l" + i, readers)).toList();
    // When
    server.coordinator.listLocks.next().answer().complete(locks);
    // Then
    ListLocksResponse page = client.next();
    assertThat(page.getLocksCount()).isBetween(1, 4);
    assertThat(page.getSerializedSize()).isLessThan(4 * 1024 * 1024);
    assertThat(Fields.pageToken("page_token", page.getNextPageToken()))
        .isEqualTo("l" + (page.getLocksCount() - 1));
  }

  @Test
  void metadataThatWouldNotFitIsLeftOutAndTheContendersAreAllThere() {
    // Given
    Received<GetLockRequest, GetLockResponse> client = Received.all();
    server.locks().getLock(GetLockRequest.newBuilder().setName("l").build(), client);
    List<Contender> readers = Collections.nCopies(1_000, wordy(ReadWriteKind.READ));
    // When
    server.coordinator.getLocks.next().answer().complete(ViewSamples.held("l", readers));
    // Then
    var lock = client.next().getLock();
    assertThat(lock.getHoldersCount()).isEqualTo(1_000);
    assertThat(lock.getHolders(0).getMetadataMap()).hasSize(1);
    assertThat(lock.getHolders(999).getMetadataMap()).isEmpty();
    assertThat(lock.getSerializedSize()).isLessThan(2 * 1024 * 1024);
  }

  /** Returns a holder that says as much of itself as it may. */
  private static Contender wordy(Mode mode) {
    return ViewSamples.holder(mode, "h".repeat(256), Map.of("k", "v".repeat(4_095)));
  }

  @Test
  void tokenCheckTellsTheCurrentTokens() {
    // Given
    Received<CheckTokenRequest, CheckTokenResponse> client = Received.all();
    server
        .locks()
        .checkToken(
            CheckTokenRequest.newBuilder().setName("orders/42").setFencingToken(76).build(),
            client);
    var asked = server.coordinator.checkTokens.next();
    // When
    asked.answer().complete(new TokenCheck(false, List.of(77L)));
    // Then
    assertThat(asked.what().token()).isEqualTo(76);
    CheckTokenResponse response = client.next();
    assertThat(response.getCurrent()).isFalse();
    assertThat(response.getCurrentTokensList()).containsExactly(77L);
  }

  @Test
  void mirrorThatIsBeingRebuiltIsUnavailable() {
    // Given
    Received<GetLockRequest, GetLockResponse> client = Received.all();
    server.locks().getLock(GetLockRequest.newBuilder().setName("a").build(), client);
    // When
    server
        .coordinator
        .getLocks
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.UNAVAILABLE));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }
}
