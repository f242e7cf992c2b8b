package io.lockkeeper.integration.failover;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;

/** Hears how safe one lock is, with client-java. */
final class Ears implements LockListener {

  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
  private boolean jeopardy;
  private boolean safety;

  @Override
  public synchronized void onJeopardy(LockHandle handle, Duration validFor) {
    jeopardy = true;
  }

  @Override
  public synchronized void onSafe(LockHandle handle, Duration validFor) {
    safety = true;
  }

  /** Another server says so: that is as good. */
  @Override
  public synchronized void onResumed(LockHandle handle, Duration away) {
    safety = true;
  }

  @Override
  public void onLost(LockHandle handle, LossReason reason) {
    lost.complete(reason);
  }

  /** Returns whether the lock was said to be in danger. */
  synchronized boolean wasInJeopardy() {
    return jeopardy;
  }

  private synchronized boolean isSafe() {
    return safety;
  }

  /** Waits until a server has said again that the lock is held. */
  void awaitSafety() {
    Awaitility.await("safety").until(this::isSafe);
  }

  /** Completes when the lock is lost. */
  CompletableFuture<LossReason> lost() {
    return lost;
  }
}
