package io.lockkeeper.server.rpc.call;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * Slows down an address (of IPv6: a /64) that opens and closes connections without end, since each
 * handshake takes milliseconds of a processor. Only connections that end early count: all clients
 * of a gateway may come back at once, and they stay. Who shares an address with such a flood gets
 * in at its pace, and as soon as {@link #MAX_OWED_NANOS} lets him once it has ended. Thread-safe.
 */
final class HandshakePace {

  /** What ends earlier counts. */
  static final long EARLY_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** How many of an address may end early in a second, and how many then begin in a second. */
  static final int PER_SECOND_AND_PROCESSOR = 10;

  /** How long an address may save what it does not use. */
  static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The longest that a connection waits for its turn: clients give up after a few seconds. */
  static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * The most that an address owes. Clients that were too many at once, and have given up, must get
   * in again within the time of their leases.
   */
  static final long MAX_OWED_NANOS = BURST_NANOS + TimeUnit.SECONDS.toNanos(5);

  /** Two addresses share a place here and there, and nobody can choose with whom. */
  private static final int PLACE_BITS = 12;

  private final long eachNanos;
  private final long factor;
  private final LongSupplier clock;
  private final long startNanos;

  /**
   * By place: when all that ended early would have ended at the pace, in nanoseconds since the
   * start.
   */
  private final AtomicLongArray paidUntil = new AtomicLongArray(1 << PLACE_BITS);

  /** By place: when the next one has its turn. */
  private final AtomicLongArray turns = new AtomicLongArray(1 << PLACE_BITS);

  HandshakePace() {
    this(
        Runtime.getRuntime().availableProcessors(),
        System::nanoTime,
        ThreadLocalRandom.current().nextLong());
  }

  HandshakePace(int processors, LongSupplier clock, long salt) {
    this.eachNanos = TimeUnit.SECONDS.toNanos(1) / ((long) processors * PER_SECOND_AND_PROCESSOR);
    this.factor = salt | 1; // odd: multiplicative hashing
    this.clock = clock;
    this.startNanos = clock.getAsLong();
  }

  /** Counts a connection that has ended, and lasted so long. */
  void ended(SocketAddress from, long nanos) {
    OptionalInt place = placeOf(from);
    if (nanos < EARLY_NANOS && place.isPresent()) {
      long now = now();
      paidUntil.updateAndGet(
          place.getAsInt(), until -> Turns.oneMore(until, now, eachNanos, MAX_OWED_NANOS));
    }
  }

  /**
   * Takes a turn for a new connection.
   *
   * @return after how many nanoseconds it may begin, zero for nearly all; nothing if too many wait
   *     before it, and then no turn is taken
   */
  OptionalLong takeTurn(SocketAddress from) {
    OptionalInt place = placeOf(from);
    long now = now();
    if (place.isEmpty() || paidUntil.get(place.getAsInt()) - now <= BURST_NANOS) {
      return OptionalLong.of(0);
    }
    while (true) {
      long turn = turns.get(place.getAsInt());
      long wait = Math.max(0, turn - now);
      if (wait > MAX_WAIT_NANOS) {
        return OptionalLong.empty();
      }
      if (turns.compareAndSet(place.getAsInt(), turn, now + wait + eachNanos)) {
        return OptionalLong.of(wait);
      }
    }
  }

  private long now() {
    return clock.getAsLong() - startNanos;
  }

  private OptionalInt placeOf(SocketAddress from) {
    return Slots.networkOf(from).stream().mapToInt(this::placeOf).findAny();
  }

  private int placeOf(ByteBuffer network) {
    long bits = network.remaining() < Long.BYTES ? network.getInt(0) : network.getLong(0);
    return (int) ((bits * factor) >>> (Long.SIZE - PLACE_BITS));
  }
}
