package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.runtime.LeaderWatch;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The leadership of an elected candidate. Check {@link #isValid} before every step of the work
 * rather than once, and hand {@link #fencingToken} to whatever the leader changes. Made by {@link
 * LeaderElection#campaign}; may be used by any thread.
 */
public final class Leadership implements AutoCloseable {

  private final LockHandle handle;

  Leadership(LockHandle handle) {
    this.handle = handle;
  }

  /** Returns whether the leader may act now: see {@link LockHandle#isValid}. */
  public boolean isValid() {
    return handle.isValid();
  }

  /** Returns how long the leader may act without hearing more; zero if it may not. */
  public Duration remaining() {
    return handle.remaining();
  }

  /**
   * Returns if the leader may act now.
   *
   * @throws LockLostException if it no longer leads
   * @throws IllegalStateException if it has resigned
   */
  public void checkValid() {
    handle.checkValid();
  }

  /** Returns the fencing token: higher than that of any leader before. */
  public long fencingToken() {
    return handle.fencingToken();
  }

  /** Completes with the reason when the leadership is lost: see {@link LockHandle#lost}. */
  public CompletionStage<LossReason> lost() {
    return handle.lost();
  }

  /** Returns the lock that the leader holds. */
  public LockHandle handle() {
    return handle;
  }

  /**
   * Replaces the leader's value: observers and other candidates are told. Completes and fails as
   * {@link LockHandle#updateMetadata} does.
   *
   * @param value up to 4,000 bytes of UTF-8
   * @throws IllegalArgumentException if it is longer
   */
  public CompletableFuture<Void> proclaim(String value) {
    return handle.updateMetadata(Map.of(LeaderWatch.VALUE, Limits.leaderValue(value)));
  }

  /**
   * Steps down: the next candidate leads. Completes when that is certain, never exceptionally; does
   * nothing if the leadership is lost.
   */
  public CompletableFuture<ReleaseResult> resignAsync() {
    return handle.releaseForResult();
  }

  /**
   * Steps down, and waits until that is certain, as {@link LockHandle#close} does. In the task of
   * {@link LeaderElection#run}, that ends the term at once, and the run when the task returns.
   *
   * @throws LockLostException if the leadership was lost before
   */
  public void resign() {
    handle.close();
  }

  /**
   * Like {@link #resign}.
   *
   * @throws LockLostException if the leadership was lost before
   */
  @Override
  public void close() {
    resign();
  }

  @Override
  public String toString() {
    return "Leadership[" + handle + "]";
  }
}
