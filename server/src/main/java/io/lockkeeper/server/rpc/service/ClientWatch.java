package io.lockkeeper.server.rpc.service;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.wire.WatchEvents;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.WatchResponse;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * One watch of a client. It sends the events of the locks that the client can watch, and counts as
 * one of the client's watches until it ends.
 */
abstract class ClientWatch implements WatchListener {

  private final Access access;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile Optional<WatchHandle> handle = Optional.empty();

  /**
   * Counts the watch.
   *
   * @throws io.lockkeeper.server.rpc.wire.OverLimitException if the client has too many
   */
  ClientWatch(Access access) {
    this.access = access;
    access.usage().openWatch(access.limits());
  }

  /** Sends an event to the client. */
  abstract void send(Supplier<WatchResponse> event);

  /** Starts the watch at the coordinator. */
  void start(Coordinator coordinator, WatchFilter filter, long startRevision) {
    WatchHandle started = coordinator.watch(filter, startRevision, this);
    handle = Optional.of(started);
    // Room may have come back, or the watch have ended, before there was a handle.
    started.ready();
    if (ended.get()) {
      started.close();
    }
  }

  /** Notifies the coordinator that the client has room again. */
  final void ready() {
    handle.ifPresent(WatchHandle::ready);
  }

  /** Ends the watch. Idempotent. */
  void close() {
    end();
    handle.ifPresent(WatchHandle::close);
  }

  /** Stops counting the watch, and sends no more of its events. Idempotent. */
  final void end() {
    if (ended.compareAndSet(false, true)) {
      access.usage().closeWatch();
    }
  }

  @Override
  public final void onSnapshot(LockView lock) {
    if (access.permits(Right.WATCH, lock.lock())) {
      sendUnlessEnded(() -> WatchEvents.snapshot(lock, access.permits(Right.READ, lock.lock())));
    }
  }

  @Override
  public final void onSnapshotEnd(long revision) {
    sendUnlessEnded(() -> WatchEvents.snapshotEnd(revision));
  }

  @Override
  public final void onChange(WatchedChange change) {
    LockName lock = change.change().lock();
    if (access.permits(Right.WATCH, lock)) {
      sendUnlessEnded(() -> WatchEvents.change(change, access.permits(Right.READ, lock)));
    }
  }

  @Override
  public final void onGap(String reason) {
    sendUnlessEnded(() -> WatchEvents.gap(reason));
  }

  private void sendUnlessEnded(Supplier<WatchResponse> event) {
    // The client has ended it: what the loop had under way comes too late.
    if (!ended.get()) {
      send(event);
    }
  }
}
