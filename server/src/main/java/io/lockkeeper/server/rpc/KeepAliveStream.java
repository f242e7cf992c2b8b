package io.lockkeeper.server.rpc;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.Coordinator;
import io.lockkeeper.server.coordinator.RefusedException;
import io.lockkeeper.server.core.Answer;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.v1.KeepAliveRequest;
import io.lockkeeper.v1.KeepAliveResponse;
import io.lockkeeper.v1.LeaseEndReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * One KeepAlive call. Some requests may be under way at a time, so that a lease that nobody serves
 * at the moment does not hold up the renewal of others; the answers come in order.
 */
final class KeepAliveStream implements StreamObserver<KeepAliveRequest>, OpenStreams.Leavable {

  private static final int MAX_UNANSWERED = 64;

  private final Coordinator coordinator;
  private final Optional<Forwarding> forwarding;
  private final OpenStreams streams;
  private final OutboundStream<KeepAliveResponse> out;
  private final InboundWindow inbound;
  // Only the thread that delivers requests touches it.
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  /**
   * Prepares.
   *
   * @param forwarding for leases that are not served here; empty if another coordinator has
   *     forwarded the call
   */
  KeepAliveStream(
      Coordinator coordinator,
      Optional<Forwarding> forwarding,
      ServerCallStreamObserver<KeepAliveResponse> call,
      GrpcLimits limits,
      OpenStreams streams) {
    this.coordinator = coordinator;
    this.forwarding = forwarding;
    this.streams = streams;
    this.out = new OutboundStream<>(call, limits.streamMessages(), limits.streamBytes());
    this.inbound = new InboundWindow(call, out, MAX_UNANSWERED);
  }

  /** Waits for the first request. */
  void start() {
    out.onEnd(() -> streams.remove(this));
    out.onRoom(inbound::readNext);
    streams.add(this, CallGuard.connection(), false);
    inbound.open();
    inbound.readNext();
  }

  @Override
  public void onNext(KeepAliveRequest request) {
    inbound.received();
    try {
      renew(Fields.leaseId("lease_id", request.getLeaseId()));
    } catch (RuntimeException e) {
      answerInOrder(CompletableFuture.failedFuture(e));
    }
    inbound.handled();
  }

  private void renew(LeaseId lease) {
    answerInOrder(
        renewedHere(coordinator, lease)
            .thenCompose(
                known ->
                    known
                        .map(CompletableFuture::completedFuture)
                        .orElseGet(() -> renewElsewhere(lease))));
  }

  private CompletableFuture<KeepAliveResponse> renewElsewhere(LeaseId lease) {
    return forwarding
        .map(others -> others.keepAlive(lease))
        .orElseGet(() -> CompletableFuture.completedFuture(unknown(lease)));
  }

  private void answerInOrder(CompletableFuture<KeepAliveResponse> renewed) {
    CompletableFuture<KeepAliveResponse> inTurn =
        last.thenCombine(renewed, (before, answer) -> answer);
    last = inTurn;
    Answers.deliver(
        inTurn,
        answer -> {
          out.send(() -> answer);
          inbound.answered();
        },
        out::failAfterQueue);
  }

  /** Renews a lease. Completes without an answer if the lease is not served here. */
  static CompletableFuture<Optional<KeepAliveResponse>> renewedHere(
      Coordinator coordinator, LeaseId lease) {
    return coordinator
        .keepAlive(lease)
        .thenApply(answer -> Optional.of(toResponse(lease, answer)))
        .exceptionally(KeepAliveStream::elsewhereOrRethrow);
  }

  private static Optional<KeepAliveResponse> elsewhereOrRethrow(Throwable cause) {
    Throwable root =
        cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
    if (root instanceof RefusedException refused && Elsewhere.mayHelp(refused.failure().kind())) {
      return Optional.empty();
    }
    throw new CompletionException(root);
  }

  /** A lease that nobody knows is an answer on a stream that serves many leases. */
  static KeepAliveResponse unknown(LeaseId lease) {
    return KeepAliveResponse.newBuilder()
        .setLeaseId(lease.toString())
        .setEnded(LeaseEndReason.LEASE_END_REASON_UNSPECIFIED)
        .build();
  }

  private static KeepAliveResponse toResponse(LeaseId lease, Answer answer) {
    KeepAliveResponse.Builder response =
        KeepAliveResponse.newBuilder().setLeaseId(lease.toString());
    if (answer instanceof Answer.LeaseRenewed renewed) {
      return response.setValidFor(Durations.ofNanos(renewed.validForNanos())).build();
    }
    if (answer instanceof Answer.LeaseGone gone) {
      return response.setEnded(Messages.toReason(gone.end())).build();
    }
    throw new IllegalStateException("no answer to a keep-alive: " + answer.getClass());
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
  public void goAway(String reason, Duration after) {
    out.failAfterQueue(Statuses.goingAway(reason, after));
  }
}
