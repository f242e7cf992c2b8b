package io.lockkeeper.shedlock;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/**
 * Keeps ShedLock's locks in Lockkeeper.
 *
 * <pre>{@code
 * @Bean
 * LockProvider lockProvider(LockkeeperClient client) {
 *   return new LockkeeperLockProvider(client);
 * }
 * }</pre>
 *
 * <p>Each job's lock is an exclusive lock of Lockkeeper, named like the job with a prefix. It is
 * not reentrant, and never waited for.
 *
 * <p><b>lockAtMostFor</b> is kept by this provider, which releases the lock then, and counts from
 * the call of {@link #lock}, by the monotonic clock. The server does not know it, so that {@link
 * SimpleLock#extend} moves it without a call, and the end of the job's own process does not wait
 * for it: the lock is free again when the lease of a client that has died ends, by default 15 s
 * later, however long lockAtMostFor is.
 *
 * <p><b>lockAtLeastFor</b> is kept by this provider, too: {@link SimpleLock#unlock} returns at once
 * and the lock is released when the time has come. If the process dies or its client is closed
 * before, it is kept by the server, as the {@link LockRequest#lockDelay} of the lock: whoever is
 * next waits for lockAtLeastFor, one hour at most, counted anew from the end of the lease. That is
 * also so if the holder dies after lockAtLeastFor, and the delay is that of the call of {@link
 * #lock}: an extension does not change it.
 *
 * <p><b>A lock may be lost</b> while its job runs: a server says so, or none could be reached until
 * the lease was over. That is logged as a warning, like the end of lockAtMostFor. See {@link
 * Builder#interruptWhenOver} for a job that should stop then, and {@link #fencingToken} for a
 * resource that refuses what comes too late.
 *
 * <p>What {@link #lock} gives may be used by any thread, one call after the other or several at
 * once. An extension that was refused does not spend it, other than in other providers: the job may
 * unlock it as ever, which does nothing then.
 */
public final class LockkeeperLockProvider implements ExtensibleLockProvider, AutoCloseable {

  private static final Duration LONGEST_LOCK_DELAY = Duration.ofHours(1);

  private final LockkeeperClient client;
  private final String prefix;
  private final boolean interrupts;
  private final ScheduledExecutorService timer = newTimer();

  /** Makes a provider with the defaults of {@link Builder}. */
  public LockkeeperLockProvider(LockkeeperClient client) {
    this(builder(client));
  }

  private LockkeeperLockProvider(Builder builder) {
    this.client = builder.client;
    this.prefix = builder.prefix;
    this.interrupts = builder.interrupts;
  }

  private static ScheduledExecutorService newTimer() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "lockkeeper-shedlock");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  /**
   * Begins to build a provider.
   *
   * @param client asks for the locks; it is not closed with the provider, and must not be closed
   *     before it
   */
  public static Builder builder(LockkeeperClient client) {
    return new Builder(client);
  }

  /**
   * Returns the fencing token of the lock under which the calling thread runs: above zero, and
   * higher than that of any run before. Of nested locks, the innermost that was not unlocked, also
   * if that one is lost: never the token of one around it. For the job, when it is called through
   * {@code @SchedulerLock} or a {@code LockingTaskExecutor}: those run it in the thread that takes
   * the lock, and unlock it.
   *
   * @throws IllegalStateException if the thread has taken no lock from a provider of this class, or
   *     has unlocked it
   * @throws LockException if the lock is lost or timed out: the job should stop
   */
  public static long fencingToken() {
    return ThreadLocks.ofCurrentThread()
        .innermost()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "this thread has no lock of a LockkeeperLockProvider: call the job through"
                        + " ShedLock, and ask in the thread in which it starts"))
        .fencingToken();
  }

  /**
   * Takes the lock if it is free now. Waits for the server's answer, up to the client's request
   * timeout.
   *
   * @return the lock; empty: somebody holds it, or its last holder was lost a moment ago and has
   *     left it locked for a while
   * @throws LockException if no server can be reached, if the server refuses the request, or if the
   *     thread is interrupted, which is kept. The job does not run then.
   * @throws IllegalArgumentException if the name with its prefix is not one of a lock: 1 to 512
   *     bytes of UTF-8, no control characters, at most 16 segments separated by {@code /}, none
   *     empty, {@code .} or {@code ..}
   * @throws IllegalStateException if the provider or its client is closed
   */
  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    long beginNanos = System.nanoTime();
    if (timer.isShutdown()) {
      throw closed();
    }
    return acquire(configuration)
        .map(
            handle ->
                HeldLock.begin(handle, configuration, beginNanos, timer, interrupts)
                    .orElseThrow(LockkeeperLockProvider::closed));
  }

  private Optional<LockHandle> acquire(LockConfiguration configuration) {
    LockRequest request =
        LockRequest.of(prefix + configuration.getName())
            .waitAtMost(Duration.ZERO)
            .lockDelay(lockDelay(configuration.getLockAtLeastFor()));
    try {
      return client.tryLock(request);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed(request, e);
    } catch (LockkeeperException e) {
      if (e instanceof NotAcquiredException refusal
          && refusal.reason() == NotAcquiredReason.QUEUE_FULL) {
        return Optional.empty(); // Others hold it and wait for it, by other means than ShedLock.
      }
      throw failed(request, e);
    }
  }

  private static LockException failed(LockRequest request, Exception cause) {
    return new LockException(
        "whether lock \""
            + request.name()
            + "\" is free is not known, so its job does not run: "
            + cause.getMessage(),
        cause);
  }

  /** Rounds up: a lock delay is in whole milliseconds. ShedLock allows negative values. */
  private static Duration lockDelay(Duration lockAtLeastFor) {
    if (lockAtLeastFor.isNegative()) {
      return Duration.ZERO;
    }
    return lockAtLeastFor.compareTo(LONGEST_LOCK_DELAY) >= 0
        ? LONGEST_LOCK_DELAY
        : Duration.ofMillis(lockAtLeastFor.plusNanos(999_999).toMillis());
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("this LockkeeperLockProvider is closed: make another one");
  }

  /**
   * Gives no more locks, and extends none. Those that are held stay so until they are unlocked or
   * their lockAtMostFor has passed; one that is unlocked before its lockAtLeastFor is released with
   * lockAtMostFor. The provider's thread ends with the last of them. To end them all, close the
   * client. Idempotent.
   */
  @Override
  public void close() {
    timer.shutdown();
  }

  /** Builds a {@link LockkeeperLockProvider}. */
  public static final class Builder {

    private final LockkeeperClient client;
    private String prefix = "shedlock/";
    private boolean interrupts;

    private Builder(LockkeeperClient client) {
      this.client = client;
    }

    /**
     * What the names of locks begin with. Default: {@code shedlock/}. All instances of an
     * application say the same; applications whose jobs have the same names say different ones.
     *
     * @param value up to 511 bytes of UTF-8, with the rules for names of locks; empty: none
     * @throws IllegalArgumentException if no name of a lock can begin so
     */
    public Builder prefix(String value) {
      try {
        LockRequest unused = LockRequest.of(value + "x");
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("prefix \"" + value + "\": " + e.getMessage(), e);
      }
      prefix = value;
      return this;
    }

    /**
     * Interrupts the thread that took a lock when that is lost, or its lockAtMostFor has passed,
     * before it is unlocked. The interrupt does not outlive the job if the thread itself unlocks;
     * one of the caller's own that comes after it cannot be told from it.
     *
     * <p>Right for {@code @SchedulerLock} and {@code LockingTaskExecutor}, whose jobs run in the
     * thread that takes the lock. Default: not, because ShedLock promises that to no provider:
     * whoever takes a lock in one thread for work in another would have the wrong one interrupted.
     */
    public Builder interruptWhenOver() {
      interrupts = true;
      return this;
    }

    /** Makes the provider. */
    public LockkeeperLockProvider build() {
      return new LockkeeperLockProvider(this);
    }
  }
}
