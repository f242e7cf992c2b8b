package io.lockkeeper.server.rpc;

import com.google.protobuf.Duration;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A unary call that names a lease, and what a coordinator is asked by it. */
public record LeasedCall<Q, R, A>(
    MethodDescriptor<Q, R> method,
    Q request,
    Function<FakeCoordinator, CompletableFuture<A>> asked,
    A answer) {

  private static final String LEASE = ViewSamples.LEASE.toString();

  /** Returns one of each kind. */
  public static List<LeasedCall<?, ?, ?>> all() {
    return List.of(
        new LeasedCall<>(
            LockServiceGrpc.getReleaseMethod(),
            ReleaseRequest.newBuilder().setLeaseId(LEASE).setRequestId("r-1").build(),
            coordinator -> coordinator.releases.next().answer(),
            new Answer.ReleaseDone(Answer.ReleaseOutcome.RELEASED, 0)),
        new LeasedCall<>(
            LockServiceGrpc.getAnswerReleaseMethod(),
            AnswerReleaseRequest.newBuilder()
                .setLeaseId(LEASE)
                .setRequestId("r-1")
                .setNeeds(Duration.newBuilder().setSeconds(1))
                .build(),
            coordinator -> coordinator.releaseAnswers.next().answer(),
            new Answer.Described()),
        new LeasedCall<>(
            LockServiceGrpc.getUpdateMetadataMethod(),
            UpdateMetadataRequest.newBuilder().setLeaseId(LEASE).setRequestId("r-1").build(),
            coordinator -> coordinator.metadataUpdates.next().answer(),
            new Answer.Described()),
        new LeasedCall<>(
            LeaseServiceGrpc.getCloseLeaseMethod(),
            CloseLeaseRequest.newBuilder().setLeaseId(LEASE).build(),
            coordinator -> coordinator.closeLeases.next().answer(),
            new Answer.LeaseClosed(false)),
        new LeasedCall<>(
            LeaseServiceGrpc.getGetLeaseMethod(),
            GetLeaseRequest.newBuilder().setLeaseId(LEASE).build(),
            coordinator -> coordinator.getLeases.next().answer(),
            ViewSamples.lease(ViewSamples.LEASE.tag())));
  }

  /** Makes the call. */
  public Received<Q, R> on(Channel channel) {
    Received<Q, R> client = Received.all();
    ClientCalls.asyncUnaryCall(channel.newCall(method, CallOptions.DEFAULT), request, client);
    return client;
  }

  /** Lets a coordinator that was asked refuse. */
  public void refuse(Node node, Reason reason) {
    asked.apply(node.coordinator).completeExceptionally(ViewSamples.refused(reason));
  }

  /** Lets a coordinator that was asked answer. */
  public void answer(Node node) {
    asked.apply(node.coordinator).complete(answer);
  }

  @Override
  public String toString() {
    return String.valueOf(method.getBareMethodName());
  }
}
