package io.lockkeeper.server.rpc.service;

import io.grpc.stub.ServerCallStreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.Heartbeat;
import io.lockkeeper.v1.WatchResponse;
import java.util.function.Supplier;

/**
 * One Watch call. What a slow client has not read is kept back and coalesced by the coordinator.
 */
final class WatchStream extends ClientWatch implements OpenStreams.Leavable {

  private final OutboundStream<WatchResponse> out;
  private final OpenStreams streams;
  private volatile long revision;

  WatchStream(
      ServerCallStreamObserver<WatchResponse> call,
      GrpcLimits limits,
      OpenStreams streams,
      Access access) {
    super(access);
    this.out = new OutboundStream<>(call, limits.streamMessages(), limits.streamBytes());
    this.streams = streams;
    out.onEnd(this::close);
    out.onRoom(this::ready);
  }

  @Override
  void start(Coordinator coordinator, WatchFilter filter, long startRevision) {
    revision = startRevision;
    streams.add(this, CallGuard.connection(), false);
    if (out.isEnded()) {
      close();
    } else {
      super.start(coordinator, filter, startRevision);
    }
  }

  @Override
  void close() {
    streams.remove(this);
    super.close();
  }

  @Override
  public boolean isReady() {
    return out.isReady();
  }

  @Override
  void send(Supplier<WatchResponse> event) {
    out.send(
        () -> {
          WatchResponse next = event.get();
          revision = next.getRevision();
          return next;
        });
  }

  @Override
  public void beat() {
    // Clients resume from the revision of whatever they received last.
    out.beat(
        () ->
            WatchResponse.newBuilder()
                .setRevision(revision)
                .setHeartbeat(Heartbeat.getDefaultInstance())
                .build());
  }

  @Override
  public void onRefused(RefusedException why) {
    out.failAfterQueue(Statuses.of(why));
  }

  @Override
  public void goAway(Refusal why) {
    out.failAfterQueue(why);
  }
}
