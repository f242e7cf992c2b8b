package io.lockkeeper.server.rpc.service;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.QuotedInput;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.rpc.wire.WatchEvents;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.SessionWatched;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** The watches of one session stream. */
final class SessionWatches {

  private final Coordinator coordinator;
  private final OutboundStream<SessionResponse> out;
  private final SessionStreamEvents events;
  private final int max;
  private final Access access;
  private final Map<String, Watched> watches = new ConcurrentHashMap<>();

  SessionWatches(
      Coordinator coordinator,
      OutboundStream<SessionResponse> out,
      SessionStreamEvents events,
      int max,
      Access access) {
    this.access = access;
    this.coordinator = coordinator;
    this.out = out;
    this.events = events;
    this.max = max;
  }

  /** Starts a watch. */
  void start(WatchRequest request) {
    String id = RequestReader.toWatchId(request);
    WatchFilter filter = RequestReader.toFilter(request);
    if (watches.containsKey(id)) {
      throw Fields.invalid(
          "watch_id", "must be new: this stream has a watch " + QuotedInput.of(id) + " already");
    }
    if (watches.size() >= max) {
      throw new RefusedException(
          new Failure(
              Failure.Reason.TOO_MANY, "a session stream may have at most " + max + " watches"));
    }
    filter.names().forEach(lock -> access.require(Right.WATCH, lock));
    access.usage().openWatch(access.limits());
    Watched watched = new Watched(id);
    watches.put(id, watched);
    watched.attach(coordinator.watch(filter, request.getStartRevision(), watched));
    if (out.isEnded()) {
      closeAll();
    }
  }

  /** Ends a watch. Returns false if there is none of that id. */
  boolean stop(String id) {
    Optional<Watched> watched = Optional.ofNullable(watches.remove(id));
    watched.ifPresent(Watched::close);
    return watched.isPresent();
  }

  /** Tells all watches that there is room. */
  void ready() {
    watches.values().forEach(Watched::ready);
  }

  /** Ends all watches. */
  void closeAll() {
    watches.keySet().forEach(this::stop);
  }

  /** One watch. */
  private final class Watched implements WatchListener {

    private final String id;
    private volatile Optional<WatchHandle> handle = Optional.empty();
    private volatile boolean closed;
    private final AtomicBoolean counted = new AtomicBoolean(true);

    Watched(String id) {
      this.id = id;
    }

    void attach(WatchHandle started) {
      handle = Optional.of(started);
      // Room may have come back, or the watch been refused, before there was a handle.
      started.ready();
      if (closed) {
        started.close();
      }
    }

    void ready() {
      handle.ifPresent(WatchHandle::ready);
    }

    void close() {
      end();
      handle.ifPresent(WatchHandle::close);
    }

    private void end() {
      closed = true;
      if (counted.compareAndSet(true, false)) {
        access.usage().closeWatch();
      }
    }

    @Override
    public boolean isReady() {
      return out.isReady();
    }

    @Override
    public void onSnapshot(LockView lock) {
      if (access.permits(Right.WATCH, lock.lock())) {
        tell(() -> WatchEvents.snapshot(lock));
      }
    }

    @Override
    public void onSnapshotEnd(long revision) {
      tell(() -> WatchEvents.snapshotEnd(revision));
    }

    @Override
    public void onChange(WatchedChange change) {
      if (access.permits(Right.WATCH, change.change().lock())) {
        tell(() -> WatchEvents.change(change));
      }
    }

    @Override
    public void onGap(String reason) {
      tell(() -> WatchEvents.gap(reason));
    }

    @Override
    public void onRefused(RefusedException why) {
      watches.remove(id, this);
      end();
      events.tellRefused(Statuses.of(why).toRefused().setWatch(id));
    }

    private void tell(Supplier<WatchResponse> event) {
      // The client has ended it: what the loop had under way comes too late.
      if (!closed) {
        events.send(
            () ->
                SessionResponse.newBuilder()
                    .setWatched(SessionWatched.newBuilder().setWatchId(id).setEvent(event.get())));
      }
    }
  }
}
