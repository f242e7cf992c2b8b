package io.lockkeeper.server.rpc.call;

import io.lockkeeper.server.rpc.wire.OverLimitException;
import io.lockkeeper.server.security.Limits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Counts the streams, watches and requests of each account on this endpoint, and refuses what is
 * beyond its limits. An account is an identity, or the address of somebody who has none.
 */
public final class Usage {

  /** How long an account may save what it does not ask for: a batch comes at once. */
  private static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Duration RETRY = Duration.ofSeconds(1);

  private final Map<String, Account> accounts = new ConcurrentHashMap<>();
  private final LongSupplier clock;

  /** Makes one that goes by the monotonic clock. */
  public Usage() {
    this(System::nanoTime);
  }

  Usage(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * Returns the name of the account of somebody without an identity: his address, without the port;
   * of IPv6, the /64, all addresses of which one host may have.
   */
  static String accountAt(String peer) {
    int port = peer.lastIndexOf(':');
    String host = port < 0 ? peer : peer.substring(0, port);
    List<String> groups = List.of(host.split(":", -1)); // Java writes all eight of IPv6
    return groups.size() == 8 ? String.join(":", groups.subList(0, 4)) + "::/64" : host;
  }

  /** Returns the account of that name. */
  public Account of(String name) {
    return accounts.computeIfAbsent(name, Account::new);
  }

  /**
   * Forgets accounts that have nothing and have asked for nothing lately. Called every now and
   * then; a request that comes at the same moment is counted on an account that is forgotten, once.
   */
  public void forgetIdle() {
    accounts.values().removeIf(Account::isIdle);
  }

  /** Returns how many accounts are known. */
  int size() {
    return accounts.size();
  }

  /** One account. */
  public final class Account {
    private final String name;
    private final AtomicInteger streams = new AtomicInteger();
    private final AtomicInteger watches = new AtomicInteger();

    /** When all that was asked for would have been asked for at the highest rate. */
    private final AtomicLong paidUntil = new AtomicLong(clock.getAsLong());

    private Account(String name) {
      this.name = name;
    }

    String name() {
      return name;
    }

    private boolean isIdle() {
      return streams.get() == 0 && watches.get() == 0 && paidUntil.get() - clock.getAsLong() <= 0;
    }

    /**
     * Counts a request, unless it is beyond the limit. One that counts for more than is ever saved
     * is taken when no more than one other is owed, which may be the call that it came in.
     *
     * @param weight as how many it counts, 1 and more
     * @return zero, or after how many nanoseconds it would be taken
     */
    long request(Limits limits, int weight) {
      long one = nanosEach(limits);
      long cost = weight * one;
      while (true) {
        long now = clock.getAsLong();
        long paid = paidUntil.get();
        long owed = Math.max(0, paid - now);
        if (owed > one && owed + cost > BURST_NANOS) {
          return Math.min(owed - one, owed + cost - BURST_NANOS);
        }
        if (paidUntil.compareAndSet(paid, now + owed + cost)) {
          return 0;
        }
      }
    }

    /** Returns why a request is refused that would be taken after so many nanoseconds. */
    OverLimitException tooManyRequests(Limits limits, long wait) {
      return over(limits.requestsPerSecond() + " requests a second", Duration.ofNanos(wait));
    }

    private static long nanosEach(Limits limits) {
      return TimeUnit.SECONDS.toNanos(1) / limits.requestsPerSecond();
    }

    /**
     * Counts a stream until {@link #closeStream}.
     *
     * @throws OverLimitException if there are too many
     */
    void openStream(Limits limits) {
      open(streams, limits.streams(), "open streams");
    }

    int streams() {
      return streams.get();
    }

    void closeStream() {
      streams.decrementAndGet();
    }

    /**
     * Counts a watch until {@link #closeWatch}.
     *
     * @throws OverLimitException if there are too many
     */
    public void openWatch(Limits limits) {
      open(watches, limits.watches(), "watches");
    }

    /** Counts a watch no more. */
    public void closeWatch() {
      watches.decrementAndGet();
    }

    private void open(AtomicInteger count, int most, String what) {
      if (count.incrementAndGet() > most) {
        count.decrementAndGet();
        throw over(most + " " + what, RETRY);
      }
    }

    private OverLimitException over(String limit, Duration retryAfter) {
      return new OverLimitException(
          "'" + name + "' has its limit of " + limit + " on this coordinator", retryAfter);
    }
  }
}
