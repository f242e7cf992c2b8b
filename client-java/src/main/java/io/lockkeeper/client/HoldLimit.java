package io.lockkeeper.client;

import io.lockkeeper.client.internal.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The end of one hold by {@link LockRequest#maxHold}, counted from the receipt of the grant. */
final class HoldLimit {

  /** The warning comes when a fifth is left, unless the client has its own, and a third at most. */
  private static final int WARNING_PART = 5;

  private static final int LONGEST_WARNING_PART = 3;

  /** What a request may ask for at least. */
  private static final Duration SHORTEST = Duration.ofMillis(100);

  private final Optional<Duration> maxHold;
  private final Surroundings around;
  private List<Loop.Timer> timers = List.of();

  HoldLimit(Optional<Duration> maxHold, Surroundings around) {
    this.maxHold = maxHold;
    this.around = around;
  }

  /** Returns where a hold that is granted now ends. */
  OptionalLong fromNow() {
    return maxHold
        .map(limit -> OptionalLong.of(around.loop().nanos() + limit.toNanos()))
        .orElse(OptionalLong.empty());
  }

  /**
   * Returns how much is left for a server that takes the hold over; a little, where it is over.
   *
   * @param endsAtNanos where it ends, as a reading of the clock
   */
  Optional<Duration> left(OptionalLong endsAtNanos) {
    return endsAtNanos.isEmpty()
        ? Optional.empty()
        : Optional.of(
            Duration.ofNanos(
                Math.max(SHORTEST.toNanos(), endsAtNanos.getAsLong() - around.loop().nanos())));
  }

  /** Begins to count. */
  void start(Runnable whenNear, Runnable whenOver) {
    if (maxHold.isPresent()) {
      Loop loop = around.loop();
      long nanos = maxHold.get().toNanos();
      timers =
          List.of(loop.schedule(nanos - warningNanos(), whenNear), loop.schedule(nanos, whenOver));
    }
  }

  /** Returns how long before the end the warning comes. */
  long warningNanos() {
    long nanos = maxHold.map(Duration::toNanos).orElse(0L);
    long wanted =
        around.settings().expiryWarning().map(Requests::nanos).orElse(nanos / WARNING_PART);
    return Math.min(wanted, nanos / LONGEST_WARNING_PART);
  }

  /** Stops counting. */
  void stop() {
    timers.forEach(Loop.Timer::cancel);
    timers = List.of();
  }
}
