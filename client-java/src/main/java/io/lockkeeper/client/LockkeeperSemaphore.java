package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.views.DerivedFutures;
import io.lockkeeper.client.internal.views.PermitPool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A semaphore with the methods of {@link java.util.concurrent.Semaphore}, which is a class and
 * cannot be implemented. Made by {@link LockkeeperClient#asSemaphore}.
 *
 * <p>Several permits are taken at once or not at all, strictly first come, first served: who asks
 * for many is not overtaken by who asks for few, and {@link #tryAcquire()} does not barge in.
 *
 * <p>There are two styles. {@link #acquirePermits} gives a {@link LockHandle} with token and
 * validity, whose release returns the permits: prefer it in new code. {@link #acquire()} and {@link
 * #release()} are the JDK's: the permits belong to nobody in particular, and a thread may give back
 * what another has taken. A grant goes back as a whole, so {@link #release(int)} looks for grants
 * of that style that add up to exactly the number: one of that size or else several, the calling
 * thread's before others', the newest first. Unlike the JDK's, a semaphore cannot be made larger by
 * releasing more than was taken: {@link LockkeeperClient#configureLock} does that.
 *
 * <p>Permits can be lost while they are held, like any lock. As any thread may give permits back, a
 * waiter for them is left out of the search for cycles of waits.
 */
public final class LockkeeperSemaphore {

  private final LockkeeperClient client;
  private final String name;
  private final int limit;
  private final Optional<Duration> keepUnused;
  private final PermitPool pool;

  LockkeeperSemaphore(LockkeeperClient client, String name, int limit) {
    this(client, name, limit, Optional.empty());
  }

  private LockkeeperSemaphore(
      LockkeeperClient client, String name, int limit, Optional<Duration> keepUnused) {
    this.client = client;
    this.name = LockSpec.permits(name, 1).name();
    this.limit = limit;
    this.keepUnused = keepUnused;
    this.pool = new PermitPool(name);
  }

  private LockRequest request(int permits) {
    LockSpec spec =
        limit == 0 ? LockSpec.permits(name, permits) : LockSpec.permits(name, permits, limit);
    LockRequest request = LockRequest.of(spec).skipDeadlockCheck();
    return keepUnused.map(request::keepUnused).orElse(request);
  }

  /**
   * Returns a view whose permits stay with this client when they are released, as long as nobody
   * else wants them and at most {@code time} without use, each grant for requests of as many: see
   * {@link LockRequest#keepUnused}, which throws what is wrong. Releases only what it has taken.
   */
  public LockkeeperSemaphore keepUnused(Duration time) {
    return new LockkeeperSemaphore(client, name, limit, Optional.of(Limits.keepUnused(time)));
  }

  /** Takes one permit, as {@link #acquire(int)} does. */
  public void acquire() throws InterruptedException {
    acquire(1);
  }

  /**
   * Takes permits, waiting as long as it takes. Errors are those of {@link
   * LockkeeperClient#lock(String)}, and:
   *
   * @param permits 1 to the limit
   * @throws InterruptedException if interrupted before or while it waits: see {@link
   *     LockkeeperClient#lock(String)}
   * @throws NotAcquiredException if the limit is, or becomes, too small, or the queue is full
   * @throws RequestRefusedException (FAILED_PRECONDITION) if no limit is known, if it is another
   *     than this view's, or if the lock is in use as another kind
   * @throws IllegalArgumentException if the number is out of range
   */
  public void acquire(int permits) throws InterruptedException {
    pool.add(acquirePermits(permits), permits);
  }

  /** Takes one permit, as {@link #acquireUninterruptibly(int)} does. */
  public void acquireUninterruptibly() {
    acquireUninterruptibly(1);
  }

  /**
   * Takes permits as {@link #acquire(int)} does; an interrupt does not end the wait, and is kept.
   */
  public void acquireUninterruptibly(int permits) {
    pool.add(client.lockUninterruptibly(request(permits)), permits);
  }

  /** Takes one permit if it is free now, as {@link #tryAcquire(int)} does. */
  public boolean tryAcquire() {
    return tryAcquire(1);
  }

  /**
   * Takes permits if they are free now and nobody waits. Asks a server; an interrupt does not end
   * that and is kept. Errors are those of {@link #acquire(int)}.
   */
  public boolean tryAcquire(int permits) {
    try {
      pool.add(client.lockUninterruptibly(request(permits).waitAtMost(Duration.ZERO)), permits);
      return true;
    } catch (NotAcquiredException e) {
      if (e.reason() != NotAcquiredReason.TIMED_OUT) {
        throw e;
      }
      return false;
    }
  }

  /** Takes one permit if that is possible in time, as {@link #tryAcquire(int, long, TimeUnit)}. */
  public boolean tryAcquire(long time, TimeUnit unit) throws InterruptedException {
    return tryAcquire(1, time, unit);
  }

  /**
   * Takes permits if that is possible in time, 7 days at most; a time not above zero does not wait.
   * Errors are those of {@link #acquire(int)}.
   */
  public boolean tryAcquire(int permits, long time, TimeUnit unit) throws InterruptedException {
    Optional<LockHandle> handle = tryAcquirePermits(permits, LockkeeperLock.limit(time, unit));
    handle.ifPresent(taken -> pool.add(taken, permits));
    return handle.isPresent();
  }

  /** Gives one permit back, as {@link #release(int)} does. */
  public void release() {
    release(1);
  }

  /**
   * Gives permits back that {@link #acquire(int)} and its like took by this view, and waits until
   * that is certain, for the client's request timeout at most.
   *
   * @param permits 1 or more
   * @throws IllegalStateException if fewer are taken, or if no grants add up to exactly so many;
   *     nothing is given back then
   * @throws LockLostException if one of the grants was lost meanwhile: what was done since may not
   *     have been protected. The others are given back.
   * @throws IllegalArgumentException if the number is below 1
   */
  public void release(int permits) {
    List<LockHandle> handles = take(permits);
    Optional<LockLostException> lost = lost(handles);
    CompletableFuture<Void> unused = releaseAll(handles); // All before the first is waited for.
    for (LockHandle handle : handles) {
      try {
        handle.close();
      } catch (LockLostException e) {
        lost = Optional.of(lost.orElse(e));
      }
    }
    if (lost.isPresent()) {
      throw lost.get();
    }
  }

  /**
   * Like {@link #release(int)}, without waiting.
   *
   * @return completes when the permits are given back, exceptionally with {@link LockLostException}
   *     if one of the grants was lost
   * @throws IllegalStateException if fewer are taken, or if no grants add up to exactly so many
   */
  public CompletableFuture<Void> releaseAsync(int permits) {
    List<LockHandle> handles = take(permits);
    Optional<LockLostException> lost = lost(handles);
    CompletableFuture<Void> over = new CompletableFuture<>();
    CompletableFuture<Void> unused =
        releaseAll(handles)
            .thenRun(
                () -> lost.ifPresentOrElse(over::completeExceptionally, () -> over.complete(null)));
    return over;
  }

  private static CompletableFuture<Void> releaseAll(List<LockHandle> handles) {
    return CompletableFuture.allOf(
        handles.stream().map(LockHandle::releaseAsync).toArray(CompletableFuture<?>[]::new));
  }

  private List<LockHandle> take(int permits) {
    Limits.require(permits >= 1, "permits", "1 or more", permits);
    return pool.remove(permits);
  }

  private static Optional<LockLostException> lost(List<LockHandle> handles) {
    for (LockHandle handle : handles) {
      try {
        handle.checkValid();
      } catch (LockLostException e) {
        return Optional.of(e);
      }
    }
    return Optional.empty();
  }

  /**
   * Takes permits and returns the handle that gives them back, and nothing else does: {@link
   * #release(int)} does not see it. Waits and fails as {@link #acquire(int)} does.
   */
  public LockHandle acquirePermits(int permits) throws InterruptedException {
    LockRequest request = request(permits);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return client.lock(request);
  }

  /**
   * Like {@link #acquirePermits}, if that is possible within {@code waitLimit}, zero to 7 days;
   * else empty.
   */
  public Optional<LockHandle> tryAcquirePermits(int permits, Duration waitLimit)
      throws InterruptedException {
    LockRequest request = request(permits).waitAtMost(waitLimit);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return client.tryLock(request);
  }

  /**
   * Like {@link #acquirePermits}, without waiting. Cancelling the future leaves the queue.
   * Completes as {@link LockkeeperClient#acquire} does.
   */
  public CompletableFuture<LockHandle> acquireAsync(int permits) {
    return client.acquire(request(permits));
  }

  /** Like {@link #tryAcquirePermits}, without waiting. */
  public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(int permits, Duration waitLimit) {
    return DerivedFutures.optional(client.acquire(request(permits).waitAtMost(waitLimit)));
  }

  /**
   * Returns how many permits nobody holds, as a server saw it a moment ago; zero also if the limit
   * was made smaller than what is held. Errors are those of {@link
   * LockkeeperClient#getLock(String)}.
   *
   * @throws IllegalStateException if the limit is neither configured, nor this view's, nor named by
   *     a holder
   */
  public int availablePermits() {
    return available(client.getLock(name));
  }

  /** Like {@link #availablePermits}, without waiting; completes exceptionally with its errors. */
  public CompletableFuture<Integer> availablePermitsAsync() {
    return client.async().getLock(name).thenApply(this::available);
  }

  private int available(LockInfo lock) {
    OptionalInt named =
        lock.holders().stream().mapToInt(Contender::limit).filter(n -> n > 0).findFirst();
    OptionalInt own = limit == 0 ? named : OptionalInt.of(limit);
    int all =
        (lock.configuredLimit().isPresent() ? lock.configuredLimit() : own)
            .orElseThrow(
                () -> new IllegalStateException("no limit of \"" + name + "\" is known: name it"));
    return Math.max(0, all - lock.holders().stream().mapToInt(Contender::permits).sum());
  }

  @Override
  public String toString() {
    return "LockkeeperSemaphore[" + name + (limit == 0 ? "" : ", limit " + limit) + "]";
  }
}
