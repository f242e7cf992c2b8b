package io.lockkeeper.client;

/** A watch that goes on until it is closed. */
public interface Watch extends AutoCloseable {

  /** Ends the watch. Idempotent. A call to the listener that is under way still finishes. */
  @Override
  void close();
}
