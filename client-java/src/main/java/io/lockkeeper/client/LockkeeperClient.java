package io.lockkeeper.client;

import io.lockkeeper.client.internal.context.Settings;
import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.runtime.ClientRuntime;
import io.lockkeeper.client.internal.views.LockedTasks;
import io.lockkeeper.client.internal.views.ThreadOwners;
import io.lockkeeper.v1.WatchRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A client of Lockkeeper: acquires locks, keeps its lease alive, and knows without a server until
 * when its locks may be used. Make one per process and share it; all methods may be called from any
 * thread.
 *
 * <pre>{@code
 * try (LockkeeperClient client = LockkeeperClient.builder("localhost:7420").build();
 *     LockHandle lock = client.lock("orders/42")) {
 *   stock.decrement(item, lock.fencingToken());
 * }
 * }</pre>
 *
 * <p>The client has one lease, opened when a lock is first asked for. When the connection breaks,
 * the server is silent or goes away, the lease is resumed at the next server: requests keep their
 * places and locks their tokens. Only when the lease ends are its locks lost: because a server says
 * so, or because none could be reached before the client's own deadline. The next request opens
 * another lease.
 *
 * <p>Tasks that share the client and hold one lock while they wait for another should each name an
 * {@link LockRequest#owner}: cycles of waits are found among owners. {@link #withLock} names the
 * calling thread. Other requests without one are left out of the search, since the server cannot
 * tell the client's tasks apart, and keep waiting.
 *
 * <p>Methods that wait may be interrupted, which withdraws; those that ask about locks, or act on
 * others' locks, throw {@link LockkeeperException} then and keep the interrupt. Methods that wait
 * must not be called by callbacks on an executor that runs them in the calling thread: they throw
 * {@link IllegalStateException}, and so do all methods that need a server when the client is
 * closed. A client may have 10,000 requests and locks at a time, and fails others with {@link
 * LockkeeperException}. A thread that calls the client may also run, for a moment, other work of
 * the client, but no callbacks of others.
 */
public final class LockkeeperClient implements AutoCloseable {

  private final ClientRuntime runtime;
  private final LockkeeperAsync async;

  LockkeeperClient(Settings settings) {
    this.runtime = new ClientRuntime(settings);
    this.async = new LockkeeperAsync(runtime.unaryCalls());
  }

  /**
   * Begins to build a client.
   *
   * @param servers one or several {@code host:port}, separated by commas, to be tried in turn; the
   *     port may be left out and is 7420 then. Of a name with several addresses each is a server;
   *     it is looked up again whenever another server is needed. It may begin with {@code dns:///}.
   * @throws IllegalArgumentException if an address is malformed
   */
  public static LockkeeperClientBuilder builder(String servers) {
    return new LockkeeperClientBuilder(servers);
  }

  /**
   * Asks for a lock and returns at once. Cancelling the future, or completing it (as {@code
   * orTimeout} does), withdraws the request; a grant that comes later is released, and its listener
   * does not hear of it.
   *
   * @return completes on the callback executor with the held lock, or exceptionally with {@link
   *     NotAcquiredException}, {@link LeaseLostException} (the lease ended while waiting), {@link
   *     ServerUnavailableException} (no server answered within the request timeout), {@link
   *     RequestRefusedException} (the request is wrong, or a limit is reached: then {@link
   *     RequestRefusedException#retryAfter} says when to ask again) or {@link LockkeeperException}
   *     (the client was closed meanwhile, or has 10,000 requests and locks)
   * @throws IllegalStateException if the client is closed
   */
  public CompletableFuture<LockHandle> acquire(LockRequest request) {
    return runtime.acquireCalls().async(request);
  }

  /**
   * Acquires a lock, waiting as long as it takes.
   *
   * @throws InterruptedException if interrupted; the request is withdrawn. The message says whether
   *     it has left the queue, or its lease is over and its place goes with it, or no server has
   *     confirmed either within a second: then it goes on in the background, and a grant that comes
   *     meanwhile is released.
   * @throws NotAcquiredException if the queue is full
   * @throws LeaseLostException if the lease ended while waiting: call again
   * @throws ServerUnavailableException if no server answered within the request timeout
   * @throws RequestRefusedException if the server refuses the request: for good, or because a limit
   *     is reached, and then {@link RequestRefusedException#retryAfter} says when to ask again
   * @throws LockkeeperException if the client is closed meanwhile, or has 10,000 requests and locks
   * @throws IllegalStateException if the client is closed, or in a callback on its own thread
   */
  public LockHandle lock(String name) throws InterruptedException {
    return lock(LockRequest.of(name));
  }

  /**
   * Acquires a lock as the request says. Errors are those of {@link #lock(String)}, and:
   *
   * @throws NotAcquiredException if the request's wait limit ran out, the queue is full, or the
   *     wait would never end: see {@link LockRequest#checkForDeadlock}
   */
  public LockHandle lock(LockRequest request) throws InterruptedException {
    return runtime.acquireCalls().await(request);
  }

  /**
   * Acquires a lock if that is possible within {@code waitLimit}, zero to 7 days. Where no server
   * can be reached, the wait is longer by up to the request timeout. Errors are those of {@link
   * #lock(String)}.
   *
   * @return the held lock, or empty if the time ran out
   */
  public Optional<LockHandle> tryLock(String name, Duration waitLimit) throws InterruptedException {
    return tryLock(LockRequest.of(name).waitAtMost(waitLimit));
  }

  /** Acquires a lock if it is free now. Errors are those of {@link #lock(String)}. */
  public Optional<LockHandle> tryLock(String name) throws InterruptedException {
    return tryLock(name, Duration.ZERO);
  }

  /**
   * Acquires a lock as the request says; empty if its wait limit ran out. Errors are those of
   * {@link #lock(LockRequest)} otherwise.
   */
  public Optional<LockHandle> tryLock(LockRequest request) throws InterruptedException {
    try {
      return Optional.of(lock(request));
    } catch (NotAcquiredException e) {
      if (e.reason() == NotAcquiredReason.TIMED_OUT) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /**
   * Runs {@code task} while it holds a lock, and releases the lock after it. The task runs in the
   * calling thread. When the lock is lost, the thread is interrupted, whatever the callbacks do;
   * that interrupt does not outlive the task. One of the caller's own that came before it does; one
   * that comes after it cannot be told from it.
   *
   * <p>Reentrant for its thread, like {@link java.util.concurrent.locks.ReentrantLock}: a request
   * without an {@link LockRequest#owner} is made for the calling thread. So a task that asks for
   * its lock again, by this method, is granted it again; a task that writes may read; and a wait
   * that would never end is refused. Permits have no owner: each request takes its own, and a task
   * that asks for more than are left waits for itself. So does one that asks for its lock by {@link
   * #lock(String)}, which has no owner.
   *
   * <pre>{@code
   * long left =
   *     client.withLock(
   *         LockRequest.of("orders/42"), lock -> stock.decrement(item, lock.fencingToken()));
   * }</pre>
   *
   * <p>Errors are those of {@link #lock(LockRequest)} and of the task, and:
   *
   * @return what the task returns
   * @throws LockLostException if the lock was lost by the end of the task, even if the task
   *     returned: what it did may not have been protected. What it has thrown is suppressed by this
   *     exception, but for an error, which suppresses it. If that was the caller's interrupt, the
   *     thread is interrupted again.
   * @throws NotAcquiredException if the wait would never end, besides the reasons above
   */
  public <T, X extends Exception> T withLock(LockRequest request, LockedTask<T, X> task)
      throws X, InterruptedException {
    return LockedTasks.run(lock(ownedByThread(request)), task);
  }

  /** Permits have no owner: each request takes its own. */
  private static LockRequest ownedByThread(LockRequest request) {
    boolean hasOwner = !request.owner().isEmpty();
    boolean onlyPermits =
        request.locks().stream().allMatch(lock -> lock.mode() == LockMode.PERMITS);
    return hasOwner || onlyPermits ? request : request.owner(ThreadOwners.ofCurrentThread());
  }

  /** Like {@link #withLock}, for work that has no result. */
  public <X extends Exception> void runWithLock(LockRequest request, LockedAction<X> action)
      throws X, InterruptedException {
    LockedTask<Boolean, X> task =
        lock -> {
          action.run(lock);
          return true;
        };
    boolean unused = withLock(request, task);
  }

  /** Returns a view of an exclusive lock as a reentrant {@link java.util.concurrent.locks.Lock}. */
  public LockkeeperLock asLock(String name) {
    return asLock(LockRequest.of(name));
  }

  /** Returns a view of several locks, in any modes, as one: all are locked together or none is. */
  public LockkeeperLock asLock(LockSpec first, LockSpec... more) {
    return asLock(LockRequest.of(first, more));
  }

  /**
   * Returns a view of what a request asks for as a reentrant lock; an owner or a wait limit, which
   * the view has itself, is an {@link IllegalArgumentException}.
   */
  public LockkeeperLock asLock(LockRequest request) {
    return new LockkeeperLock(this, request);
  }

  /** Returns a view of a read/write lock. */
  public LockkeeperReadWriteLock asReadWriteLock(String name) {
    return new LockkeeperReadWriteLock(this, name);
  }

  /** Returns a view of permits whose limit is configured: see {@link #configureLock}. */
  public LockkeeperSemaphore asSemaphore(String name) {
    return new LockkeeperSemaphore(this, name, 0);
  }

  /** Returns a view of {@code limit} permits, 1 to 1,000,000; all who use them say the same. */
  public LockkeeperSemaphore asSemaphore(String name, int limit) {
    Limits.require(limit >= 1, "limit", "1 to 1,000,000", limit);
    return new LockkeeperSemaphore(this, name, limit);
  }

  /** Returns a view of an exclusive lock whose holder leads. */
  public LeaderElection asElection(String name) {
    return new LeaderElection(this, name);
  }

  /**
   * Returns one lock with its holders and up to 100 of those who wait. A lock that nobody uses is
   * free, not an error.
   *
   * @throws ServerUnavailableException if no server answered within the request timeout
   * @throws RequestRefusedException if the name is malformed
   * @throws LockkeeperException if interrupted, which is kept
   * @throws IllegalStateException if the client is closed, or in a callback on its own thread
   */
  public LockInfo getLock(String name) {
    return runtime.unaryCalls().getLock(name);
  }

  /**
   * Like {@link #getLock(String)}, with up to {@code queueLimit} of those who wait.
   *
   * @param queueLimit 0 to 1,000
   * @throws IllegalArgumentException if it is out of range
   */
  public LockInfo getLock(String name, int queueLimit) {
    return runtime.unaryCalls().getLock(name, queueLimit);
  }

  /**
   * Returns all locks in use whose names begin with {@code prefix}, ordered by name. Read in pages
   * while the stream is consumed: not a snapshot of one moment. Errors are those of {@link
   * #getLock(String)}.
   */
  public Stream<LockInfo> listLocks(String prefix) {
    return runtime.unaryCalls().listLocks(prefix);
  }

  /**
   * Says whether a fencing token is that of a current holder: true at some moment after the call.
   * Errors are those of {@link #getLock(String)}.
   */
  public TokenCheck checkToken(String name, long fencingToken) {
    return runtime.unaryCalls().checkToken(name, fencingToken);
  }

  /**
   * Asks the holders of a lock to release it: {@link LockListener#onReleaseRequested}. Takes
   * nothing away. Errors are those of {@link #getLock(String)}.
   *
   * @param reason why, human-readable: up to 1 KiB
   * @return who was asked, at most 16; empty: nobody holds it
   * @throws IllegalArgumentException if the reason is too long
   */
  public List<Contender> requestRelease(String name, String reason) {
    return runtime.unaryCalls().requestRelease(name, reason, Optional.empty());
  }

  /**
   * Like {@link #requestRelease(String, String)}, and tells when the lock may be taken away: in
   * zero to 7 days, else {@link IllegalArgumentException}.
   */
  public List<Contender> requestRelease(String name, String reason, Duration deadline) {
    return runtime
        .unaryCalls()
        .requestRelease(name, reason, Optional.of(Limits.deadline(deadline)));
  }

  /**
   * Takes a lock away from all its holders, who are told {@link LossReason#FORCED}; how many is
   * returned. For operators; {@link #async} can do more. Errors are those of {@link
   * #requestRelease}, and {@link RequestRefusedException} (NOT_FOUND) if nobody holds it.
   */
  public int forceRelease(String name, String reason) {
    return runtime.unaryCalls().forceRelease(name, 0, reason, Optional.empty());
  }

  /**
   * Sets the limit of a lock of permits until it is taken back, also while nobody uses the lock and
   * through restarts of all servers; it outranks what requests say. A higher one lets waiters in at
   * once, a lower one takes nothing away. Errors are those of {@link #getLock(String)}, and {@link
   * RequestRefusedException} (FAILED_PRECONDITION) if the lock is in use as another kind.
   *
   * @param limit 1 to 1,000,000; zero takes the setting back
   * @return the limit before; empty: none is known
   * @throws IllegalArgumentException if the limit is out of range
   */
  public OptionalInt configureLock(String name, int limit) {
    return runtime.unaryCalls().configureLock(name, limit);
  }

  /** Returns the calls that ask about locks, or act on others' locks, without waiting. */
  public LockkeeperAsync async() {
    return async;
  }

  /**
   * Watches all locks whose names begin with {@code prefix}: first a snapshot, then every change. A
   * broken watch resumes after the last change that it told; if that is not possible, it calls
   * {@link WatchListener#onGap} and begins again. When the client is closed, the watch ends with
   * {@link WatchListener#onFailed}.
   *
   * @param prefix up to 512 bytes of UTF-8; empty: all locks
   * @throws IllegalStateException if the client is closed
   */
  public Watch watch(String prefix, WatchListener listener) {
    WatchRequest what = WatchRequest.newBuilder().setPrefix(prefix).build();
    return runtime.watch(what, listener);
  }

  /**
   * Watches the named locks, 1 to 256, as {@link #watch} does.
   *
   * @throws IllegalArgumentException if there are none or too many
   */
  public Watch watchLocks(List<String> names, WatchListener listener) {
    Limits.require(!names.isEmpty() && names.size() <= 256, "names", "1 to 256", names.size());
    WatchRequest what = WatchRequest.newBuilder().addAllNames(names).build();
    return runtime.watch(what, listener);
  }

  /** Returns the public short name of the client's lease; empty while there is none. */
  public String leaseTag() {
    return runtime.leaseTag();
  }

  /**
   * Ends all watches and the lease, and with it all locks. Locks that are still held complete as
   * lost, and the listeners of watches are notified. Waits up to 5 s until the server has
   * confirmed; otherwise the lease ends when its TTL has passed. Then ends all threads. Idempotent.
   * An interrupt ends the wait early and is kept. A task whose own lock is lost by this call is
   * interrupted afterwards.
   */
  @Override
  public void close() {
    LockedTasks.undisturbed(runtime::close);
  }

  /** Returns whether {@link #close} was called. */
  boolean isClosed() {
    return runtime.isClosed();
  }

  /** Like {@link #lock(LockRequest)}; an interrupt does not end the wait and is kept. */
  LockHandle lockUninterruptibly(LockRequest request) {
    return runtime.acquireCalls().awaitUninterruptibly(request);
  }
}
