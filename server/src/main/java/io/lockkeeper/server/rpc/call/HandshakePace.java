package io.lockkeeper.server.rpc.call;

import java.net.SocketAddress;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * Slows down an address (of IPv6: a /64) that opens and closes connections without end, since each
 * handshake takes some milliseconds of a processor. Only connections that end early count: all
 * clients of a gateway may come back at once, and they stay. Thread-safe.
 */
final class HandshakePace {

  /** What ends earlier counts. */
  static final long EARLY_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** How many of an address may end early in a second, and how many then begin in a second. */
  static final int PER_SECOND = 20;

  /** How long an address may save what it does not use. */
  static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The longest that a connection waits for its turn. */
  static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long MAX_OWED_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1) / PER_SECOND;

  /** Two addresses share a place here and there, and nobody can choose with whom. */
  private static final int PLACE_BITS = 12;

  private static final int SPREADING = 0x9E3779B9; // Fibonacci hashing

  private final int salt;
  private final LongSupplier clock;
  private final long startNanos;

  /**
   * By place: when all that ended early would have ended at the pace, in nanoseconds since the
   * start.
   */
  private final AtomicLongArray paidUntil = new AtomicLongArray(1 << PLACE_BITS);

  /** By place: when the last that waits has its turn. */
  private final AtomicLongArray turns = new AtomicLongArray(1 << PLACE_BITS);

  HandshakePace() {
    this(System::nanoTime, ThreadLocalRandom.current().nextInt());
  }

  HandshakePace(LongSupplier clock, int salt) {
    this.clock = clock;
    this.salt = salt;
    this.startNanos = clock.getAsLong();
  }

  /** Counts a connection that has ended, and lasted so long. */
  void ended(SocketAddress from, long nanos) {
    if (nanos < EARLY_NANOS) {
      placeOf(from).ifPresent(place -> add(paidUntil, place, MAX_OWED_NANOS));
    }
  }

  /**
   * Returns after how many nanoseconds a new connection may begin, zero for nearly all; nothing if
   * too many wait before it.
   */
  OptionalLong nanosUntilTurn(SocketAddress from) {
    Optional<Integer> place = placeOf(from);
    if (place.isEmpty() || paidUntil.get(place.get()) - now() <= BURST_NANOS) {
      return OptionalLong.of(0);
    }
    long wait = add(turns, place.get(), MAX_WAIT_NANOS + EACH_NANOS);
    return wait > MAX_WAIT_NANOS ? OptionalLong.empty() : OptionalLong.of(wait);
  }

  /** Adds one more to what is owed, and returns how far from now that is. */
  private long add(AtomicLongArray times, int place, long most) {
    long now = now();
    return times.updateAndGet(place, until -> Turns.oneMore(until, now, EACH_NANOS, most)) - now;
  }

  private long now() {
    return clock.getAsLong() - startNanos;
  }

  private Optional<Integer> placeOf(SocketAddress from) {
    return Slots.networkOf(from)
        .map(of -> ((of.hashCode() ^ salt) * SPREADING) >>> (Integer.SIZE - PLACE_BITS));
  }
}
