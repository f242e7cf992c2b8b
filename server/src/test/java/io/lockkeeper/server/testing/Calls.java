package io.lockkeeper.server.testing;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** What somebody was called with or told, in order, for a test to wait for. */
public final class Calls<T> {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final BlockingQueue<T> calls = new LinkedBlockingQueue<>();
  private final String what;

  public Calls(String what) {
    this.what = what;
  }

  public void add(T call) {
    calls.add(call);
  }

  /** Returns the next one, waiting for it. */
  public T next() {
    try {
      T call = calls.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      if (call == null) {
        throw new AssertionError("never came: " + what);
      }
      return call;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Returns the next one if it comes at once or nearly so. */
  public Optional<T> poll() {
    try {
      return Optional.ofNullable(calls.poll(10, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  public boolean isEmpty() {
    return calls.isEmpty();
  }

  public int size() {
    return calls.size();
  }
}
