package io.lockkeeper.server.rpc.call;

import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The streams that are open, so that all can be told when the endpoint stops, and each when its
 * connection has become old.
 */
public final class OpenStreams {

  private static final Future<?> NEVER = CompletableFuture.completedFuture(null);

  private final Map<Leavable, Future<?>> streams = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer;
  private volatile Optional<Refusal> leaving = Optional.empty();

  /** A stream that can be told that it ends. */
  public interface Leavable {
    /** Tells the client, and ends the stream; the client should come again after a while. */
    void goAway(Refusal why);

    /** Called once a second: a stream that has been quiet for long sends a heartbeat. */
    default void beat() {}
  }

  public OpenStreams(ScheduledExecutorService timer) {
    this.timer = timer;
  }

  /** Adds a stream that may stay for as long as the endpoint. */
  public void add(Leavable stream) {
    streams.put(stream, NEVER);
    leaving.ifPresent(stream::goAway);
  }

  /**
   * Adds a stream that should leave its connection when that is old.
   *
   * @param connection the connection of the call
   * @param session whether it is a session stream
   */
  public void add(
      Leavable stream, Optional<ConnectionAge.AgedConnection> connection, boolean session) {
    add(stream);
    connection.ifPresent(
        moments -> {
          Future<?> whenOld =
              timer.schedule(
                  () -> stream.goAway(Statuses.connectionTooOld()),
                  moments.untilLeaving(session, System.nanoTime()),
                  TimeUnit.NANOSECONDS);
          if (!streams.replace(stream, NEVER, whenOld)) {
            whenOld.cancel(false); // It has ended meanwhile.
          }
        });
  }

  /** Forgets a stream that has ended. */
  public void remove(Leavable stream) {
    Optional.ofNullable(streams.remove(stream)).ifPresent(whenOld -> whenOld.cancel(false));
  }

  /** Tells all streams, now and to come. */
  public void goAway(Refusal why) {
    leaving = Optional.of(why);
    sendAway(why);
  }

  /** Tells all streams that there are now. */
  public void sendAway(Refusal why) {
    streams.keySet().forEach(stream -> stream.goAway(why));
  }

  /** Has quiet streams send heartbeats; called once a second. */
  public void beat() {
    streams.keySet().forEach(Leavable::beat);
  }

  /** Returns how many are open. */
  public int size() {
    return streams.size();
  }
}
