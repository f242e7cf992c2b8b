package io.lockkeeper.client;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A lock that was granted: proof, guard and deadline. May be used, and closed, by any thread.
 *
 * <p><b>A distributed lock is no mutex.</b> A process that pauses between {@link #isValid} and what
 * it does next may act after the lock has passed on. Hand the {@link #fencingToken} to whatever the
 * lock protects and let that refuse any token below the highest that it has seen.
 *
 * <p>Validity is counted by the client's own monotonic clock: from the <em>sending</em> of the last
 * keep-alive that was acknowledged, for as long as the server then promised, less 2 % for clocks of
 * unequal rate and 50 ms. It needs no server to be heard to end.
 */
public interface LockHandle extends AutoCloseable {

  /** Returns the lock's name. */
  String name();

  /**
   * Returns the fencing token: above zero, and higher than that of any holder before. It orders; it
   * does not authenticate.
   */
  long fencingToken();

  /** Returns how the holder before this one ended, so that one can clean up after it. */
  PreviousEnd previousEnd();

  /** Returns whether the lock may be used now: not released, not lost, deadline not passed. */
  boolean isValid();

  /** Returns how long the lock may be used without hearing more; zero if it may not be used. */
  Duration remaining();

  /**
   * Returns the deadline as a reading of the client's clock in nanoseconds, by default that of
   * {@link System#nanoTime}. It moves on with every acknowledged keep-alive, never back.
   */
  long validUntilNanos();

  /**
   * Returns if the lock may be used now.
   *
   * @throws LockLostException if it is lost or its deadline has passed
   * @throws IllegalStateException if it was released
   */
  void checkValid();

  /**
   * Completes with the reason when the lock is lost, on the client's callback executor. Never
   * completes for a lock that was released first.
   */
  CompletionStage<LossReason> lost();

  /**
   * Releases the lock. From the call on, {@link #isValid} is false. The release is sent again until
   * it is certain, or until the lease is over, which frees the lock as well.
   *
   * @return completes when the lock is released, or lost; never exceptionally
   */
  CompletableFuture<Void> releaseAsync();

  /**
   * Releases the lock and waits until that is certain, for the client's request timeout at most;
   * after that, or on an interrupt (which is kept), the release goes on in the background.
   * Idempotent; does nothing if the lock is lost. Throws nothing.
   */
  @Override
  void close();
}
