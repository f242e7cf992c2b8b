package io.lockkeeper.server.rpc.service;

import io.grpc.Status.Code;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.InboundWindow;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.forward.ForwardedKeepAlive;
import io.lockkeeper.server.rpc.forward.Forwarding;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.KeepAliveRequest;
import io.lockkeeper.v1.KeepAliveResponse;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One KeepAlive call. Many requests may be under way at a time, and each is answered as soon as it
 * can be: the answers about one lease come in order, and no lease waits for another. A lease that
 * nobody serves for the moment gets no answer; only a stream that the client has half-closed ends
 * with the reason.
 */
final class KeepAliveStream implements StreamObserver<KeepAliveRequest>, OpenStreams.Leavable {

  private static final Logger LOG = LoggerFactory.getLogger(KeepAliveStream.class);
  private static final int MAX_UNANSWERED = 512;
  // An answer to each that is unanswered fits in beside half a queue, so none breaks the stream.
  private static final int MAX_QUEUED = 2 * MAX_UNANSWERED;
  // What says nothing about other leases.
  private static final Set<Code> PASSING =
      Set.of(Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.RESOURCE_EXHAUSTED);

  private final Coordinator coordinator;
  private final String coordinatorId;
  private final Optional<Forwarding> forwarding;
  private final OpenStreams streams;
  private final Access access;
  private final OutboundStream<KeepAliveResponse> out;
  private final InboundWindow inbound;
  // The last renewal under way, by lease.
  private final Map<LeaseId, CompletableFuture<Void>> last = new ConcurrentHashMap<>();

  /**
   * Prepares.
   *
   * @param forwarding for leases that are not served here; empty if another coordinator has
   *     forwarded the call
   */
  KeepAliveStream(
      Coordinator coordinator,
      String coordinatorId,
      Optional<Forwarding> forwarding,
      ServerCallStreamObserver<KeepAliveResponse> call,
      GrpcLimits limits,
      OpenStreams streams,
      ScheduledExecutorService timer,
      Access access) {
    this.access = access;
    this.coordinator = coordinator;
    this.coordinatorId = coordinatorId;
    this.forwarding = forwarding;
    this.streams = streams;
    this.out = new OutboundStream<>(call, MAX_QUEUED, limits.streamBytes());
    this.inbound = new InboundWindow(call, out, MAX_UNANSWERED, access, timer);
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
    access.countKept();
    try {
      renew(Fields.leaseId("lease_id", request.getLeaseId()));
    } catch (RuntimeException e) {
      out.failAfterQueue(Statuses.of(e));
    }
    inbound.handled();
  }

  private void renew(LeaseId lease) {
    answerInOrder(
        lease,
        ForwardedKeepAlive.renewedHere(coordinator, lease, coordinatorId)
            .thenCompose(
                known ->
                    known
                        .map(CompletableFuture::completedFuture)
                        .orElseGet(() -> renewElsewhere(lease))));
  }

  private CompletableFuture<KeepAliveResponse> renewElsewhere(LeaseId lease) {
    access.countRequest(1); // To renew a lease is never refused, to look for one is.
    return forwarding
        .map(others -> others.keepAlive(coordinator, lease, access))
        .orElseGet(() -> CompletableFuture.completedFuture(Messages.unknownLease(lease)));
  }

  private void answerInOrder(LeaseId lease, CompletableFuture<KeepAliveResponse> renewed) {
    CompletableFuture<Void> before =
        last.getOrDefault(lease, CompletableFuture.completedFuture(null));
    CompletableFuture<Void> over =
        before
            .thenCompose(nothing -> renewed)
            .thenAccept(this::answer)
            .exceptionally(
                cause -> {
                  onRefused(lease, Statuses.of(cause));
                  return null;
                });
    last.put(lease, over);
    var unused = over.thenRun(() -> last.remove(lease, over));
  }

  private void answer(KeepAliveResponse response) {
    out.send(() -> response);
    inbound.answered();
  }

  private void onRefused(LeaseId lease, Refusal refusal) {
    if (PASSING.contains(refusal.code())) {
      LOG.atDebug()
          .addKeyValue("lease", lease.tag())
          .log("A renewal gets no answer: {}", refusal.message());
      inbound.unanswerable(refusal);
    } else if (refusal.code() == Code.NOT_FOUND && forwarding.isPresent()) {
      // The lease of another, which is as if it were not there. Another coordinator is told so as
      // it is: it would look further for a lease that is not here.
      answer(Messages.unknownLease(lease));
    } else {
      out.failAfterQueue(refusal);
    }
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
  public void goAway(Refusal why) {
    out.failAfterQueue(why);
  }
}
