package io.lockkeeper.server.rpc;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.Coordinator;
import io.lockkeeper.server.coordinator.RefusedException;
import io.lockkeeper.server.core.Answer;
import io.lockkeeper.server.core.Failure;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.v1.KeepAliveRequest;
import io.lockkeeper.v1.KeepAliveResponse;
import io.lockkeeper.v1.LeaseEndReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * One KeepAlive call. Takes the next request when the one before is answered, so that answers come
 * in order.
 */
final class KeepAliveStream implements StreamObserver<KeepAliveRequest>, OpenStreams.Leavable {

  private final Coordinator coordinator;
  private final OpenStreams streams;
  private final Duration resumeAfter;
  private final OutboundStream<KeepAliveResponse> out;
  private final InboundWindow inbound;

  KeepAliveStream(
      Coordinator coordinator,
      ServerCallStreamObserver<KeepAliveResponse> call,
      GrpcLimits limits,
      OpenStreams streams) {
    this.coordinator = coordinator;
    this.streams = streams;
    this.resumeAfter = limits.resumeAfter();
    this.out = new OutboundStream<>(call, limits.streamMessages(), limits.streamBytes());
    this.inbound = new InboundWindow(call, out, 1);
  }

  /** Waits for the first request. */
  void start() {
    out.onEnd(() -> streams.remove(this));
    out.onRoom(inbound::readNext);
    streams.add(this);
    inbound.readNext();
  }

  @Override
  public void onNext(KeepAliveRequest request) {
    inbound.received();
    try {
      renew(Fields.leaseId("lease_id", request.getLeaseId()));
    } catch (RuntimeException e) {
      out.failAfterQueue(Statuses.of(e));
    }
    inbound.handled();
  }

  private void renew(LeaseId lease) {
    CompletableFuture<Answer> renewed = coordinator.keepAlive(lease);
    Answers.deliver(
        renewed.exceptionally(KeepAliveStream::unknownOrRethrow),
        answer -> {
          out.send(() -> toResponse(lease, answer));
          inbound.answered();
        },
        out::failAfterQueue);
  }

  /** A lease that is not known here is an answer on a stream that serves many leases. */
  private static Answer unknownOrRethrow(Throwable cause) {
    Throwable root =
        cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
    if (root instanceof RefusedException refused
        && refused.failure().kind() == Failure.Kind.UNKNOWN_LEASE) {
      return new Answer.Failed(refused.failure());
    }
    throw new CompletionException(root);
  }

  private static KeepAliveResponse toResponse(LeaseId lease, Answer answer) {
    KeepAliveResponse.Builder response =
        KeepAliveResponse.newBuilder().setLeaseId(lease.toString());
    if (answer instanceof Answer.LeaseRenewed renewed) {
      response.setValidFor(Durations.ofNanos(renewed.validForNanos()));
    } else if (answer instanceof Answer.LeaseGone gone) {
      response.setEnded(Messages.toReason(gone.end()));
    } else {
      response.setEnded(LeaseEndReason.LEASE_END_REASON_UNSPECIFIED);
    }
    return response.build();
  }

  @Override
  public void onError(Throwable cause) {
    streams.remove(this);
  }

  @Override
  public void onCompleted() {
    inbound.senderIsDone();
  }

  @Override
  public void goAway(String reason) {
    out.failAfterQueue(Statuses.goingAway(reason, resumeAfter));
  }
}
