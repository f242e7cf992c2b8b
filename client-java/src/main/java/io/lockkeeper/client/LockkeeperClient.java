package io.lockkeeper.client;

import io.lockkeeper.client.internal.Loop;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client of Lockkeeper: asks for locks, keeps its lease alive, and knows by itself until when
 * what it holds may be used. Make one for each process and share it; all methods may be called from
 * any thread.
 *
 * <pre>{@code
 * try (LockkeeperClient client = LockkeeperClient.builder("localhost:7420").build();
 *     LockHandle lock = client.lock("orders/42")) {
 *   stock.decrement(item, lock.fencingToken());
 * }
 * }</pre>
 *
 * <p>The client has one lease, opened when a lock is first asked for. A broken connection is
 * resumed at the server that has the lease: requests keep their places and locks their tokens. Only
 * when the lease ends are its locks lost: because that server says so, or because it could not be
 * reached before the client's own deadline. The next request opens another lease, at any server.
 *
 * <p>Methods that wait may be interrupted, and then withdraw what they asked for. They must not be
 * called by callbacks on an executor that runs them in the calling thread.
 */
public final class LockkeeperClient implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LockkeeperClient.class);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final Surroundings around;
  private final Loop loop;
  private final Callbacks callbacks;
  private final Session session;
  private final Waits waits;
  private final Queries queries;
  private final Set<WatchStream> watches = new HashSet<>(); // The loop's.

  LockkeeperClient(Settings settings) {
    String thread = "lockkeeper-client";
    this.loop =
        settings.clock().map(c -> Loop.on(c, thread)).orElseGet(() -> Loop.onSystemClock(thread));
    this.callbacks = Callbacks.on(settings.callbacks());
    this.around = new Surroundings(settings, loop, callbacks, new Backoff(new SplittableRandom()));
    this.session = new Session(around);
    this.waits = new Waits(loop);
    this.queries = new Queries(settings, loop);
  }

  /**
   * Begins to build a client.
   *
   * @param servers one or several {@code host:port}, separated by commas; the port may be left out
   *     and is 7420 then. The first that answers is used until the lease ends.
   * @throws IllegalArgumentException if an address is malformed
   */
  public static LockkeeperClientBuilder builder(String servers) {
    return new LockkeeperClientBuilder(servers);
  }

  /**
   * Asks for a lock and returns at once.
   *
   * <p>Cancelling the future, or completing it (as {@code orTimeout} does), withdraws the request;
   * a grant that comes later is released by itself.
   *
   * @return completes on the callback executor with the held lock, or exceptionally with {@link
   *     NotAcquiredException}, {@link LeaseLostException} (the lease ended while waiting), {@link
   *     ServerUnavailableException} (no server answered within the request timeout) or {@link
   *     RequestRefusedException} (the request is wrong)
   */
  public CompletableFuture<LockHandle> acquire(LockRequest request) {
    Acquisition acquisition = submit(request);
    CompletableFuture<LockHandle> result = callbacks.relay(acquisition.result());
    CompletableFuture<LockHandle> unused =
        result.whenComplete(
            (handle, failure) -> {
              if (failure != null || !acquisition.wasGrantedAs(handle)) {
                waits.giveUp(acquisition);
              }
            });
    return result;
  }

  /**
   * Acquires a lock, waiting as long as it takes.
   *
   * @throws InterruptedException if interrupted; the request is withdrawn
   * @throws LeaseLostException if the lease ended while waiting: call again
   * @throws ServerUnavailableException if no server answered within the request timeout
   * @throws RequestRefusedException if the server refuses the request for good
   */
  public LockHandle lock(String name) throws InterruptedException {
    return lock(LockRequest.of(name));
  }

  /**
   * Acquires a lock as the request says. Errors are those of {@link #lock(String)}, and:
   *
   * @throws NotAcquiredException if the request's wait limit ran out, or the queue is full
   */
  public LockHandle lock(LockRequest request) throws InterruptedException {
    return waits.await(submit(request));
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

  /** Acquires a lock as the request says; empty if its wait limit ran out. */
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

  /** Returns a view of a lock as a {@link java.util.concurrent.locks.Lock}. */
  public LockkeeperLock asLock(String name) {
    return new LockkeeperLock(this, LockRequest.of(name).name());
  }

  /**
   * Returns one lock with its holders and up to 100 of those who wait. A lock that nobody uses is
   * free, not an error.
   *
   * @throws ServerUnavailableException if no server answered within the request timeout
   * @throws RequestRefusedException if the name is malformed
   */
  public LockInfo getLock(String name) {
    return queries.getLock(name);
  }

  /**
   * Returns all locks in use whose names begin with {@code prefix}, ordered by name. Read page by
   * page as the stream is consumed, so it is no picture of one moment. Errors are those of {@link
   * #getLock}, and come while the stream is consumed.
   */
  public Stream<LockInfo> listLocks(String prefix) {
    return queries.listLocks(prefix);
  }

  /**
   * Says whether a fencing token is that of a current holder: true at some moment after the call.
   * Errors are those of {@link #getLock}.
   */
  public TokenCheck checkToken(String name, long fencingToken) {
    return queries.checkToken(name, fencingToken);
  }

  /**
   * Watches all locks whose names begin with {@code prefix}: first what is, then every change. A
   * broken watch resumes by itself after the last change it told; if that is not possible, it says
   * {@link WatchListener#onGap} and begins anew.
   *
   * @param prefix up to 512 bytes of UTF-8; empty: all locks
   */
  public Watch watch(String prefix, WatchListener listener) {
    return WatchStream.start(prefix, listener, around, watches);
  }

  /** Returns the public short name of the client's lease; empty while there is none. */
  public String leaseTag() {
    return session.leaseTag();
  }

  /**
   * Ends all watches and the lease, and with it all locks: those still held are told lost. Waits
   * until the server has confirmed, 5 s at most; without, the lease ends by its time to live. Then
   * ends all threads. Idempotent. An interrupt cuts the wait short and is kept.
   */
  @Override
  public void close() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    if (!loop.executeIfRunning(() -> session.close(() -> ended.complete(null)))) {
      ended.complete(null);
    }
    boolean interrupted = false;
    try {
      awaitBriefly(ended);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    interrupted |= stopThreads();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitBriefly(CompletableFuture<Void> ended) throws InterruptedException {
    if (loop.isCurrentThread()) {
      return;
    }
    try {
      ended.get(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      LOG.atWarn().log("No server confirmed the end of the lease: it ends by its time to live");
    } catch (ExecutionException e) {
      throw new IllegalStateException("the end of a session never fails", e);
    }
  }

  private boolean stopThreads() {
    loop.execute(this::endLoop);
    queries.close();
    try {
      loop.awaitEnd(CLOSE_LIMIT);
      callbacks.stop(CLOSE_LIMIT);
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  /** What was given to the loop before is done, so that nobody waits for it in vain. */
  private void endLoop() {
    loop.drain();
    session.abandon();
    List.copyOf(watches).forEach(WatchStream::abandon);
    loop.stop();
  }

  private Acquisition submit(LockRequest request) {
    Acquisition acquisition = session.prepare(request);
    if (!loop.executeIfRunning(() -> session.submit(acquisition))) {
      throw new IllegalStateException("this client is closed: build another one");
    }
    return acquisition;
  }

  /** Like {@link #lock(LockRequest)}; an interrupt does not end the wait and is kept. */
  LockHandle lockUninterruptibly(LockRequest request) {
    return waits.awaitUninterruptibly(submit(request));
  }
}
