package io.lockkeeper.client;

import io.lockkeeper.client.internal.Loop;
import java.time.Duration;
import java.util.Optional;

/** How long one request is waited for, and when it is sent once more. On the loop only. */
final class Patience {

  /** Some 400 to 800 ms between attempts while the server says that it cannot serve. */
  private static final int RETRY_STEP = 5;

  private final Surroundings around;
  private final Optional<Duration> waitLimit;
  private Optional<Loop.Timer> limit = Optional.empty();
  private Optional<Loop.Timer> retry = Optional.empty();
  private boolean heard;

  Patience(Surroundings around, Optional<Duration> waitLimit) {
    this.around = around;
    this.waitLimit = waitLimit;
  }

  /** Begins to wait, for the wait limit and what a server may take to answer. */
  void start(Runnable whenOver) {
    long answer = around.settings().requestTimeout().toNanos();
    long wait = waitLimit.map(Requests::nanos).orElse(0L);
    limit = Optional.of(around.loop().schedule(wait + answer, whenOver));
  }

  /** From the first sign of life on, only a request with a wait limit has a limit. */
  void onHeard() {
    if (!heard && waitLimit.isEmpty()) {
      limit.ifPresent(Loop.Timer::cancel);
    }
    heard = true;
  }

  /** Returns whether it is the request's own limit that is over. */
  boolean isWaitOver() {
    return heard && waitLimit.isPresent();
  }

  /** Tries again a little later, unless something else happens before. */
  void retryLater(Runnable again) {
    stopRetry();
    long pause = around.backoff().nanosAfter(RETRY_STEP);
    retry = Optional.of(around.loop().schedule(pause, again));
  }

  void stopRetry() {
    retry.ifPresent(Loop.Timer::cancel);
    retry = Optional.empty();
  }

  void stop() {
    limit.ifPresent(Loop.Timer::cancel);
    stopRetry();
  }
}
