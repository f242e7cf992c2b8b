package io.lockkeeper.testing;

import io.lockkeeper.client.internal.loop.SteppedClock;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A monotonic clock that stands still until it is advanced. Clients and in-memory servers that run
 * on it do what is due at each point of time before it goes on, so that what happens does not
 * depend on how fast the machine is.
 */
public final class ManualClock implements SteppedClock {

  private static final int MAX_ROUNDS = 100_000;

  private final AtomicLong nowNanos = new AtomicLong(1_000_000_000L);
  private final List<Waiter> waiters = new CopyOnWriteArrayList<>();

  /** Returns the time, in nanoseconds since some point. */
  @Override
  public long getAsLong() {
    return nowNanos.get();
  }

  /**
   * Lets time pass: from timer to timer, each at its own time, until {@code span} is over. Not for
   * two threads at once.
   *
   * @throws IllegalStateException if clients and servers do not come to rest
   */
  public void advance(Duration span) {
    long target = nowNanos.get() + span.toNanos();
    settle();
    for (OptionalLong next = nextDue(target); next.isPresent(); next = nextDue(target)) {
      long due = next.getAsLong();
      nowNanos.updateAndGet(now -> Math.max(now, due));
      settle();
    }
    nowNanos.set(target);
    settle();
  }

  /**
   * Waits until all that is due now has been done. One round without work is not enough: who was
   * busy when it began may have given work to one that had come to rest before.
   */
  public void settle() {
    long done = workDone();
    int quietRounds = 0;
    for (int round = 0; quietRounds < 2; round++) {
      if (round == MAX_ROUNDS) {
        throw new IllegalStateException("there is always more to do: is a timer set to now?");
      }
      waiters.forEach(Waiter::settle);
      long now = workDone();
      quietRounds = now == done ? quietRounds + 1 : 0;
      done = now;
    }
  }

  /**
   * Returns a clock that runs at another rate: with 0.98, it gains 0.98 s while this one gains 1 s.
   */
  public LongSupplier atRate(double rate) {
    return new Scaled(this, rate);
  }

  @Override
  public void attach(Waiter waiter) {
    waiters.add(waiter);
  }

  @Override
  public void detach(Waiter waiter) {
    waiters.remove(waiter);
  }

  private long workDone() {
    return waiters.stream().mapToLong(Waiter::workCount).sum();
  }

  private OptionalLong nextDue(long targetNanos) {
    return waiters.stream()
        .map(Waiter::nextDueNanos)
        .flatMapToLong(OptionalLong::stream)
        .filter(due -> due <= targetNanos)
        .min();
  }

  /** The same time at another rate. */
  private record Scaled(ManualClock clock, double rate) implements SteppedClock {
    @Override
    public long getAsLong() {
      return (long) (clock.getAsLong() * rate);
    }

    @Override
    public void attach(Waiter waiter) {
      clock.attach(new ScaledWaiter(waiter, rate));
    }

    @Override
    public void detach(Waiter waiter) {
      clock.detach(new ScaledWaiter(waiter, rate));
    }
  }

  /** Somebody who counts at another rate. */
  private record ScaledWaiter(Waiter waiter, double rate) implements Waiter {
    @Override
    public OptionalLong nextDueNanos() {
      OptionalLong due = waiter.nextDueNanos();
      // One more, so that rounding never stops the clock just short of the timer.
      return due.isPresent() ? OptionalLong.of((long) Math.ceil(due.getAsLong() / rate) + 1) : due;
    }

    @Override
    public void settle() {
      waiter.settle();
    }

    @Override
    public long workCount() {
      return waiter.workCount();
    }
  }
}
