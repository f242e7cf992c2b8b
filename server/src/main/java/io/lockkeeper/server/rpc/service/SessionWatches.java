package io.lockkeeper.server.rpc.service;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.OutboundStream;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.QuotedInput;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.SessionWatched;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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
    Watched watched = new Watched(id);
    watches.put(id, watched);
    watched.start(coordinator, filter, request.getStartRevision());
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
  private final class Watched extends ClientWatch {

    private final String id;

    Watched(String id) {
      super(access);
      this.id = id;
    }

    @Override
    public boolean isReady() {
      return out.isReady();
    }

    @Override
    void send(Supplier<WatchResponse> event) {
      events.send(
          () ->
              SessionResponse.newBuilder()
                  .setWatched(SessionWatched.newBuilder().setWatchId(id).setEvent(event.get())));
    }

    @Override
    public void onRefused(RefusedException why) {
      watches.remove(id, this);
      end();
      events.tellRefused(Statuses.of(why).toRefused().setWatch(id));
    }
  }
}
