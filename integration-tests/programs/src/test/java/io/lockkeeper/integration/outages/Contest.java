package io.lockkeeper.integration.outages;

import static io.lockkeeper.integration.outages.Outages.seconds;

import io.lockkeeper.client.LockHandle;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/**
 * One lock between two sides that cannot see each other: a client of a coordinator holds it, and a
 * thread that uses Curator on other ZooKeeper servers waits for it. Both are in this process, on
 * one clock.
 */
final class Contest {

  private final LockHandle handle;
  private final InterProcessMutex mutex;
  private final long heldNanos = System.nanoTime();
  private final CompletableFuture<Long> granted = new CompletableFuture<>();
  private volatile long validNanos = heldNanos;

  /** The holder has just been granted the lock. */
  Contest(LockHandle handle, CuratorFramework other, String path) {
    this.handle = handle;
    this.mutex = new InterProcessMutex(other, path);
  }

  /** Has Curator wait for the lock. */
  void challenge() {
    Thread waiter = new Thread(this::acquire, "curator-" + handle.name());
    waiter.setDaemon(true);
    waiter.start();
  }

  private void acquire() {
    try {
      mutex.acquire();
      granted.complete(System.nanoTime());
      mutex.release();
    } catch (Exception e) {
      granted.completeExceptionally(e);
    }
  }

  /** Returns whether Curator is in the queue behind the holder. */
  boolean isChallenged() {
    try {
      return mutex.getParticipantNodes().size() == 2;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Asks the holder whether it may use the lock now; returns what it says. */
  boolean look() {
    long nanos = System.nanoTime();
    boolean valid = handle.isValid();
    if (valid) {
      validNanos = nanos;
    }
    return valid;
  }

  /** Completes with the time at which Curator had the lock. */
  CompletableFuture<Long> granted() {
    return granted;
  }

  /** Returns how long nobody held the lock, negative if both did, once Curator has had it. */
  Duration margin() {
    return Duration.ofNanos(granted.join() - validNanos);
  }

  /** Returns for how long the holder might use the lock. */
  Duration held() {
    return Duration.ofNanos(validNanos - heldNanos);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s: held for %s, Curator had it %s later",
        handle.name(),
        seconds(held()),
        seconds(margin()));
  }
}
