package io.lockkeeper.server.rpc;

/**
 * Tells whether this process itself was at a standstill. What others have not answered meanwhile
 * says nothing about them.
 */
final class Pulse {

  private static final long STALL_NANOS = 750_000_000L;

  private volatile long lastBeatNanos = System.nanoTime();
  private volatile long lastStallNanos = lastBeatNanos - STALL_NANOS;

  /** To be called some times in a second. */
  void beat() {
    long now = System.nanoTime();
    if (now - lastBeatNanos > STALL_NANOS) {
      lastStallNanos = now;
    }
    lastBeatNanos = now;
  }

  /** Returns whether the process has run all the time since then. */
  boolean isSteadySince(long nanos) {
    return System.nanoTime() - lastBeatNanos <= STALL_NANOS && lastStallNanos - nanos < 0;
  }
}
