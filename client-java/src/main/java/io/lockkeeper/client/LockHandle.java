package io.lockkeeper.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A lock that was granted, or all the locks of one request: proof, guard and deadline. May be used,
 * and closed, by any thread.
 *
 * <p><b>A distributed lock is no mutex.</b> A process that pauses between {@link #isValid} and what
 * it does next may act after the lock has passed on. Hand the {@link #fencingToken} to whatever the
 * lock protects and let that refuse any token below the highest that it has seen.
 *
 * <p>Validity is counted by the client's own monotonic clock: from the <em>sending</em> of the last
 * keep-alive that was acknowledged, for as long as the server then promised, less 2 % for clocks of
 * unequal rate and 50 ms. With {@link LockRequest#maxHold} it ends that long after the receipt of
 * the grant at the latest. It ends without any message of a server. A handle that was not valid is
 * never valid again.
 *
 * <p>Some methods have a default so that a test's own handle need not implement them.
 */
public interface LockHandle extends AutoCloseable {

  /** Returns the lock's name; of several, the first one's. */
  String name();

  /**
   * Returns the fencing token: above zero, and higher than that of any holder before, but for those
   * of this client who used what it {@linkplain LockRequest#keepUnused keeps}. It orders; it does
   * not authenticate. Of several locks, the first one's.
   */
  long fencingToken();

  /**
   * Returns how the holder before this one ended, so that one can clean up after it. Of several
   * locks, the first one's.
   */
  PreviousEnd previousEnd();

  /** Returns the proof for each lock, in the order of the request; one at least. */
  default List<LockGrant> grants() {
    return List.of(new LockGrant(name(), fencingToken(), previousEnd(), 1));
  }

  /**
   * Returns the proof for one lock of the request.
   *
   * @throws IllegalArgumentException if the request did not name it
   */
  default LockGrant grant(String lock) {
    return grants().stream()
        .filter(grant -> grant.name().equals(lock))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("\"" + lock + "\" is not one of " + this));
  }

  /**
   * Returns the fencing token of one lock of the request.
   *
   * @throws IllegalArgumentException if the request did not name it
   */
  default long fencingToken(String lock) {
    return grant(lock).fencingToken();
  }

  /**
   * Returns how the holder before this one of one lock of the request ended.
   *
   * @throws IllegalArgumentException if the request did not name it
   */
  default PreviousEnd previousEnd(String lock) {
    return grant(lock).previousEnd();
  }

  /**
   * Returns how many acquisitions of the owner held the lock so when this one was granted, this one
   * included: 1 unless the request has an owner that held the lock already. Of several locks, the
   * first one's.
   */
  default int holdCount() {
    return grants().get(0).holdCount();
  }

  /** Returns whether the lock may be used now: not released, not lost, deadline not passed. */
  boolean isValid();

  /** Returns how long the lock may be used without another answer of a server; zero: not at all. */
  Duration remaining();

  /**
   * Returns the deadline as a reading of the client's clock in nanoseconds, by default that of
   * {@link System#nanoTime}. It moves on with every acknowledged keep-alive. It moves back when a
   * server tells that it has lost ZooKeeper and vouches for less, and on again when that is over:
   * see {@link LockListener#onJeopardy}.
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
   * Replaces the request's metadata: those who wait for the lock, or watch it, are told. Calls of
   * one handle take effect in their order.
   *
   * @param metadata up to 32 entries, 4 KiB in all, keys not empty
   * @return completes on the callback executor when others can see it, or exceptionally with {@link
   *     LockLostException}, {@link IllegalStateException} (the lock was released), {@link
   *     ServerUnavailableException} (no server answered within the request timeout; it may have
   *     been done) or {@link RequestRefusedException}
   * @throws IllegalArgumentException if it is too much
   */
  default CompletableFuture<Void> updateMetadata(Map<String, String> metadata) {
    return CompletableFuture.failedFuture(
        new UnsupportedOperationException("this handle has no metadata"));
  }

  /**
   * Answers {@link LockListener#onReleaseRequested}: how much longer the lock is needed. Shown to
   * those who wait and watch as {@link Contender#releaseIn}; it does not postpone a forced release.
   * Completes and fails as {@link #updateMetadata} does.
   *
   * @param needs zero to 7 days
   * @throws IllegalArgumentException if it is out of range
   */
  default CompletableFuture<Void> answerRelease(Duration needs) {
    return CompletableFuture.failedFuture(
        new UnsupportedOperationException("nobody asks for the release of this handle"));
  }

  /**
   * Like {@link #releaseAsync}, and says what the release did: of an owner's reentrant hold it
   * gives back one level. Never completes exceptionally; of a lock that was lost, or whose lease is
   * over before a server has confirmed the release, it says {@link ReleaseResult.Outcome#LOST}.
   */
  default CompletableFuture<ReleaseResult> releaseForResult() {
    return releaseAsync()
        .thenApply(released -> new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
  }

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
   * Idempotent for a lock that is released.
   *
   * <p>A lock that was lost does not close in silence: what was done under it may not have been
   * protected, and nobody would notice. In {@code try}-with-resources, an exception of the body
   * goes first, and this one is suppressed by it. Who wants to release without hearing of a loss
   * calls {@link #releaseAsync}.
   *
   * @throws LockLostException if the lock was lost before this call, or its deadline has passed,
   *     which is a loss like any other
   */
  @Override
  void close();
}
