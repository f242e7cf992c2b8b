package io.lockkeeper.server.coordinator.api;

/** A watch until closed. Methods may be called from any thread. */
public interface WatchHandle {

  /** Says that the listener is ready again after it was not. */
  void ready();

  /** Ends the watch. Idempotent. */
  void close();
}
