package io.lockkeeper.server.rpc;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The streams that are open, so that all can be told when the endpoint stops. */
final class OpenStreams {

  private final Set<Leavable> streams = ConcurrentHashMap.newKeySet();
  private volatile Optional<String> leaving = Optional.empty();

  /** A stream that can be told that the endpoint stops. */
  interface Leavable {
    /** Tells the client, and ends the stream. */
    void goAway(String reason);
  }

  /** Adds a stream; one that comes when the endpoint stops already is told at once. */
  void add(Leavable stream) {
    streams.add(stream);
    leaving.ifPresent(stream::goAway);
  }

  /** Forgets a stream that has ended. */
  void remove(Leavable stream) {
    streams.remove(stream);
  }

  /** Tells all streams, now and to come. */
  void goAway(String reason) {
    leaving = Optional.of(reason);
    streams.forEach(stream -> stream.goAway(reason));
  }

  /** Returns how many are open. */
  int size() {
    return streams.size();
  }
}
