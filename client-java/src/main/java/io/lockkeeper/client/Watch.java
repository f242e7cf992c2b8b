package io.lockkeeper.client;

/** A watch that goes on until it, or its client, is closed. */
public interface Watch extends AutoCloseable {

  /**
   * Ends the watch. Idempotent. A call to the listener that has begun still finishes; no other
   * follows.
   */
  @Override
  void close();
}
