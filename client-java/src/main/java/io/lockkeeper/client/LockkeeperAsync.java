package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.runtime.UnaryCalls;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * What a {@link LockkeeperClient} can be asked about locks, and do to others' locks, without
 * blocking the caller. Made by {@link LockkeeperClient#async}.
 *
 * <p>The futures complete on the callback executor; exceptionally with what the methods of the
 * client throw, or with an {@link IllegalStateException} if the client is closed, or 10,000 calls
 * wait. Cancelling one does not undo what it asked for.
 */
public final class LockkeeperAsync {

  private final UnaryCalls calls;

  LockkeeperAsync(UnaryCalls calls) {
    this.calls = calls;
  }

  /** Like {@link LockkeeperClient#getLock(String)}. */
  public CompletableFuture<LockInfo> getLock(String name) {
    return calls.async(() -> calls.getLock(name));
  }

  /** Like {@link LockkeeperClient#getLock(String, int)}. */
  public CompletableFuture<LockInfo> getLock(String name, int queueLimit) {
    return calls.async(() -> calls.getLock(name, queueLimit));
  }

  /** Like {@link LockkeeperClient#listLocks}, all pages at once. */
  public CompletableFuture<List<LockInfo>> listLocks(String prefix) {
    return calls.async(() -> calls.listLocks(prefix).toList());
  }

  /** Like {@link LockkeeperClient#checkToken}. */
  public CompletableFuture<TokenCheck> checkToken(String name, long fencingToken) {
    return calls.async(() -> calls.checkToken(name, fencingToken));
  }

  /** Like {@link LockkeeperClient#requestRelease(String, String)}. */
  public CompletableFuture<List<Contender>> requestRelease(String name, String reason) {
    Limits.reason(reason);
    return calls.async(() -> calls.requestRelease(name, reason, Optional.empty()));
  }

  /** Like {@link LockkeeperClient#requestRelease(String, String, Duration)}. */
  public CompletableFuture<List<Contender>> requestRelease(
      String name, String reason, Duration deadline) {
    Limits.reason(reason);
    Optional<Duration> checked = Optional.of(Limits.deadline(deadline));
    return calls.async(() -> calls.requestRelease(name, reason, checked));
  }

  /** Like {@link LockkeeperClient#configureLock}. */
  public CompletableFuture<OptionalInt> configureLock(String name, int limit) {
    return calls.async(() -> calls.configureLock(name, limit));
  }

  /** Like {@link LockkeeperClient#forceRelease}. */
  public CompletableFuture<Integer> forceRelease(String name, String reason) {
    return forceRelease(name, 0, reason);
  }

  /**
   * Like {@link LockkeeperClient#forceRelease}, but takes the lock away from one holder only: a
   * token that nobody holds is NOT_FOUND, so that a lock that has passed on is left alone.
   *
   * @param fencingToken the holder's; zero: every holder
   */
  public CompletableFuture<Integer> forceRelease(String name, long fencingToken, String reason) {
    Limits.reason(reason);
    return calls.async(() -> calls.forceRelease(name, fencingToken, reason, Optional.empty()));
  }

  /**
   * Asks the holders of a lock to release it; after {@code grace}, the server takes away what they
   * still hold. Completes when they have been asked, with how many were; the server that was asked
   * must stay up until then.
   *
   * @param grace zero to 1 hour
   * @throws IllegalArgumentException if the grace is out of range, or the reason above 1 KiB
   */
  public CompletableFuture<Integer> forceReleaseAfter(Duration grace, String name, String reason) {
    Limits.reason(reason);
    Optional<Duration> checked = Optional.of(Limits.grace(grace));
    return calls.async(() -> calls.forceRelease(name, 0, reason, checked));
  }
}
