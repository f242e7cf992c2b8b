package io.lockkeeper.server.rpc.service;

import io.grpc.stub.ServerCallStreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Coordinator.AcquisitionListener;
import io.lockkeeper.server.coordinator.api.Coordinator.Subscription;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.CallEnd;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.wire.EventTopic;
import io.lockkeeper.server.rpc.wire.Notices;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Heartbeat;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * One Acquire call: tells the client what happens to its request, and the coordinator when the
 * client hangs up.
 */
final class AcquireStream implements AcquisitionListener, OpenStreams.Leavable {

  private static final AcquireResponse HEARTBEAT =
      AcquireResponse.newBuilder().setHeartbeat(Heartbeat.getDefaultInstance()).build();

  private final OutboundStream<AcquireResponse> out;
  private final OpenStreams streams;
  private final String coordinatorId;
  private final Predicate<LockName> readable;
  private final CallEnd end = CallEnd.ofCurrentCall();
  private volatile Optional<Subscription> subscription = Optional.empty();

  AcquireStream(
      ServerCallStreamObserver<AcquireResponse> call,
      GrpcLimits limits,
      OpenStreams streams,
      String coordinatorId,
      Access access) {
    this.coordinatorId = coordinatorId;
    this.readable = access.having(Right.READ);
    this.out = new OutboundStream<>(call, limits.streamMessages(), limits.streamBytes());
    this.streams = streams;
    out.onEnd(this::close);
  }

  /** Asks the coordinator. */
  void start(Coordinator coordinator, AcquireCommand command) {
    if (command.lease().isPresent()) {
      streams.add(this, CallGuard.connection(), false);
    } else {
      // The stream is the lease: it lives for as long as its connection.
      streams.add(this);
    }
    if (out.isEnded()) {
      return;
    }
    subscription = Optional.of(coordinator.acquire(command, this));
    // The client may have hung up before there was a subscription to close.
    if (out.isEnded()) {
      close();
    }
  }

  private void close() {
    streams.remove(this);
    subscription.ifPresent(open -> open.close(end.isCancelledByClient()));
  }

  @Override
  public void onNotice(String requestId, long epoch, long sequence, Notice notice) {
    out.send(
        EventTopic.of(requestId, notice),
        () ->
            Notices.toEvent(requestId, epoch, sequence, notice, readable)
                .setCoordinatorId(coordinatorId)
                .build());
    if (notice.isFinal()) {
      out.complete();
    }
  }

  @Override
  public void onRefused(RefusedException why) {
    out.failAfterQueue(Statuses.of(why));
  }

  @Override
  public void onSuperseded() {
    out.failAfterQueue(Statuses.superseded());
  }

  @Override
  public void beat() {
    out.beat(() -> HEARTBEAT);
  }

  @Override
  public void goAway(Refusal why) {
    out.failAfterQueue(why);
  }
}
