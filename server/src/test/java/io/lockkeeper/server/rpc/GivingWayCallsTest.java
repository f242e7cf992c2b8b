package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.testing.FakeCoordinator.LockToForce;
import io.lockkeeper.server.testing.FakeCoordinator.ReleaseToAnswer;
import io.lockkeeper.server.testing.FakeCoordinator.ReleaseToRequest;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.AnswerReleaseResponse;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class GivingWayCallsTest {

  @AutoClose private final InProcess server = new InProcess();

  private static RequestReleaseRequest.Builder wish() {
    return RequestReleaseRequest.newBuilder().setName("orders/42");
  }

  private static ForceReleaseRequest.Builder force() {
    return ForceReleaseRequest.newBuilder().setName("orders/42");
  }

  private void force(
      ForceReleaseRequest.Builder request, StreamObserver<ForceReleaseResponse> client) {
    AdminServiceGrpc.newStub(server.channel).forceRelease(request.build(), client);
  }

  @Test
  void wishReachesTheCoordinatorWholeAndItsAnswerNamesWhoWasAsked() {
    // Given
    Received<RequestReleaseRequest, RequestReleaseResponse> client = Received.all();
    RequestReleaseRequest.Builder request =
        wish()
            .setRequester("bob")
            .setReason("maintenance")
            .setDeadline(ProtoDurations.ofNanos(30_000_000_000L));
    // When
    server.locks().requestRelease(request.build(), client);
    var asked = server.coordinator.releaseRequests.next();
    asked
        .answer()
        .complete(
            new Answer.ReleaseAsked(
                List.of(
                    ViewSamples.yielding(MutexKind.EXCLUSIVE, 5_000_000_000L),
                    ViewSamples.holder())));
    // Then
    assertThat(asked.what())
        .isEqualTo(
            new ReleaseToRequest(
                ViewSamples.LOCK, "bob", "maintenance", Optional.of(Duration.ofSeconds(30))));
    RequestReleaseResponse response = client.next();
    assertThat(response.getHoldersCount()).isEqualTo(2);
    assertThat(response.getHolders(0).getReleaseIn().getSeconds()).isEqualTo(5);
    assertThat(response.getHolders(1).hasReleaseIn()).isFalse();
  }

  @Test
  void wishOfNobodyInParticularIsThePeers() {
    // Given
    Received<RequestReleaseRequest, RequestReleaseResponse> client = Received.all();
    // When
    server.locks().requestRelease(wish().build(), client);
    // Then
    ReleaseToRequest asked = server.coordinator.releaseRequests.next().what();
    assertThat(asked.requester()).isNotEmpty();
    assertThat(asked.reason()).isEmpty();
    assertThat(asked.deadline()).isEmpty();
  }

  @Test
  void noMoreThanSixteenOfTheAskedAreNamed() {
    // Given
    Received<RequestReleaseRequest, RequestReleaseResponse> client = Received.all();
    server.locks().requestRelease(wish().build(), client);
    List<Contender> holders = Collections.nCopies(17, ViewSamples.holder());
    // When
    server.coordinator.releaseRequests.next().answer().complete(new Answer.ReleaseAsked(holders));
    // Then
    assertThat(client.next().getHoldersCount()).isEqualTo(16);
  }

  @Test
  void holdersAnswerReachesTheCoordinator() {
    // Given
    Received<AnswerReleaseRequest, AnswerReleaseResponse> client = Received.all();
    // When
    server
        .locks()
        .answerRelease(
            AnswerReleaseRequest.newBuilder()
                .setLeaseId(ViewSamples.LEASE.toString())
                .setRequestId("req-1")
                .setNeeds(ProtoDurations.ofNanos(0))
                .build(),
            client);
    var asked = server.coordinator.releaseAnswers.next();
    asked.answer().complete(new Answer.Described());
    // Then
    assertThat(asked.what())
        .isEqualTo(new ReleaseToAnswer(ViewSamples.LEASE, "req-1", Duration.ZERO));
    assertThat(client.next()).isEqualTo(AnswerReleaseResponse.getDefaultInstance());
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void forceTellsHowManyLostTheLock() {
    // Given
    Received<ForceReleaseRequest, ForceReleaseResponse> client = Received.all();
    // When
    force(force().setFencingToken(77).setReason("stuck"), client);
    var asked = server.coordinator.forces.next();
    asked.answer().complete(new Answer.Forced(2, 0, 0));
    // Then
    LockToForce what = asked.what();
    assertThat(what.lock()).isEqualTo(ViewSamples.LOCK);
    assertThat(what.token()).isEqualTo(77);
    assertThat(what.requester()).isNotEmpty();
    assertThat(what.reason()).isEqualTo("stuck");
    assertThat(what.grace()).isEmpty();
    assertThat(client.next().getReleased()).isEqualTo(2);
  }

  @Test
  void forceWithAGraceTellsHowManyWereAsked() {
    // Given
    Received<ForceReleaseRequest, ForceReleaseResponse> client = Received.all();
    // When
    force(force().setGrace(ProtoDurations.ofNanos(10_000_000_000L)), client);
    var asked = server.coordinator.forces.next();
    asked.answer().complete(new Answer.Forced(0, 3, 1));
    // Then
    assertThat(asked.what().grace()).contains(Duration.ofSeconds(10));
    ForceReleaseResponse response = client.next();
    assertThat(response.getAsked()).isEqualTo(3);
    assertThat(response.getDelaysEnded()).isEqualTo(1);
  }

  @Test
  void graceOfZeroIsNone() {
    // Given
    Received<ForceReleaseRequest, ForceReleaseResponse> client = Received.all();
    // When
    force(force().setGrace(ProtoDurations.ofNanos(0)), client);
    // Then
    assertThat(server.coordinator.forces.next().what().grace()).isEmpty();
  }

  @Test
  void forceOfALockThatNobodyHoldsIsNotFound() {
    // Given
    Received<ForceReleaseRequest, ForceReleaseResponse> client = Received.all();
    force(force(), client);
    // When
    server
        .coordinator
        .forces
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.NO_HOLDER));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.NOT_FOUND);
  }

  @Test
  void holderThatDoesNotReadKeepsItsLockHoweverOftenItIsAsked() {
    // Given
    try (InProcess real = InProcess.onRealCoordinator()) {
      Received<AcquireRequest, AcquireResponse> holder = Received.nothing();
      real.locks()
          .acquire(
              AcquireRequest.newBuilder()
                  .addLocks(LockRequest.newBuilder().setName("orders/42"))
                  .build(),
              holder);
      holder.read(1);
      assertThat(holder.next().hasGranted()).isTrue();
      // When
      int more = GrpcLimits.DEFAULTS.streamMessages() + 10;
      for (int i = 0; i < more; i++) {
        var unused = real.locksNow().requestRelease(wish().setReason("reason " + i).build());
      }
      holder.read(more);
      // Then
      String reason = "";
      while (!reason.equals("reason " + (more - 1))) {
        reason = holder.next().getReleaseRequested().getReason();
      }
      assertThat(holder.hasEnded()).isFalse();
    }
  }
}
