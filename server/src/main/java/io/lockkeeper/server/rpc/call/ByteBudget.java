package io.lockkeeper.server.rpc.call;

import java.util.concurrent.atomic.AtomicLong;

/** So many bytes for all, counted while they are held. Thread-safe. */
final class ByteBudget {

  private final long max;
  private final AtomicLong held = new AtomicLong();

  ByteBudget(long max) {
    this.max = max;
  }

  /** Counts bytes, and returns whether all that are held are within the budget. */
  boolean hold(long bytes) {
    return held.addAndGet(bytes) <= max;
  }

  /** Says that bytes are held no more. */
  void release(long bytes) {
    held.addAndGet(-bytes);
  }

  boolean isHalfHeld() {
    return held.get() > max / 2;
  }

  long max() {
    return max;
  }

  long held() {
    return held.get();
  }
}
