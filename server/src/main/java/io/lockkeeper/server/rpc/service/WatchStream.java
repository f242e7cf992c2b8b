package io.lockkeeper.server.rpc.service;

import io.grpc.stub.ServerCallStreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.rpc.wire.WatchEvents;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.WatchResponse;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One Watch call. What a slow client has not read is kept back and coalesced by the coordinator.
 */
final class WatchStream implements WatchListener, OpenStreams.Leavable {

  private final OutboundStream<WatchResponse> out;
  private final OpenStreams streams;
  private final Access access;
  private final AtomicBoolean counted = new AtomicBoolean();
  private volatile Optional<WatchHandle> handle = Optional.empty();

  WatchStream(
      ServerCallStreamObserver<WatchResponse> call,
      GrpcLimits limits,
      OpenStreams streams,
      Access access) {
    this.access = access;
    this.out = new OutboundStream<>(call, limits.streamMessages(), limits.streamBytes());
    this.streams = streams;
    out.onEnd(this::close);
    out.onRoom(() -> handle.ifPresent(WatchHandle::ready));
  }

  /** Asks the coordinator. */
  void start(Coordinator coordinator, WatchFilter filter, long startRevision) {
    access.usage().openWatch(access.limits());
    counted.set(true);
    streams.add(this, CallGuard.connection(), false);
    if (out.isEnded()) {
      close();
      return;
    }
    WatchHandle started = coordinator.watch(filter, startRevision, this);
    handle = Optional.of(started);
    // Room may have come back, or the client hung up, before there was a handle to tell.
    started.ready();
    if (out.isEnded()) {
      close();
    }
  }

  private void close() {
    streams.remove(this);
    if (counted.compareAndSet(true, false)) {
      access.usage().closeWatch();
    }
    handle.ifPresent(WatchHandle::close);
  }

  @Override
  public boolean isReady() {
    return out.isReady();
  }

  @Override
  public void onSnapshot(LockView lock) {
    if (access.permits(Right.WATCH, lock.lock())) {
      out.send(() -> WatchEvents.snapshot(lock));
    }
  }

  @Override
  public void onSnapshotEnd(long revision) {
    out.send(() -> WatchEvents.snapshotEnd(revision));
  }

  @Override
  public void onChange(WatchedChange change) {
    if (access.permits(Right.WATCH, change.change().lock())) {
      out.send(() -> WatchEvents.change(change));
    }
  }

  @Override
  public void onGap(String reason) {
    out.send(() -> WatchEvents.gap(reason));
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
