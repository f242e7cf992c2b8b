package io.lockkeeper.client;

import io.lockkeeper.client.internal.Loop;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Keeps one lease alive and watches over its deadline. Keep-alives go out at a third of the smaller
 * of the time to live and of what the server last promised, and are answered within a sixth of the
 * time to live: so a stream that has died without a sign is given up when half of the lease is left
 * to find another. The deadline is watched whether or not there is a stream. On the client's loop
 * only.
 */
final class LeaseRenewal {

  private static final long MIN_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long MIN_SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long MAX_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Loop loop;
  private final Lease lease;
  private final long longestWarningNanos;
  private final Owner owner;
  private final KeepAlives keepAlives = new KeepAlives();
  private long lastValidForNanos;
  private long warningNanos;
  private Optional<Loop.Timer> nextKeepAlive = Optional.empty();
  private Optional<Loop.Timer> silenceWatch = Optional.empty();
  private Optional<Loop.Timer> deadlineWatch = Optional.empty();
  private boolean warned;

  /** Whose lease it is. */
  interface Owner {
    /** A keep-alive is due. */
    void sendKeepAlive(long nonce);

    /** A keep-alive has had no answer for too long: the stream may be dead. */
    void onSilence();

    /** The deadline is near. */
    void onAboutToExpire(long remainingNanos);

    /** The deadline has passed. */
    void onExpired();
  }

  LeaseRenewal(Loop loop, Lease lease, long longestWarningNanos, Owner owner) {
    this.loop = loop;
    this.lease = lease;
    this.longestWarningNanos = longestWarningNanos;
    this.owner = owner;
    warnInTime();
    watchDeadline();
  }

  /** A stream was opened by a request sent at {@code sentAtNanos}: keep-alives go out. */
  void onOpened(long sentAtNanos, long validForNanos) {
    extend(sentAtNanos, validForNanos);
    keepAlives.forget();
    scheduleKeepAlive();
  }

  /** The stream is gone: no keep-alives until the next. */
  void onBroken() {
    nextKeepAlive.ifPresent(Loop.Timer::cancel);
    nextKeepAlive = Optional.empty();
    silenceWatch.ifPresent(Loop.Timer::cancel);
    silenceWatch = Optional.empty();
  }

  /** A keep-alive was acknowledged. */
  void onAcknowledged(long nonce, long validForNanos) {
    keepAlives.answered(nonce).ifPresent(sentAt -> extend(sentAt, validForNanos));
  }

  /**
   * The server had too much to do to take a keep-alive. The stream lives, and another stream would
   * be one thing more to do: it is tried again when a third of the time that is left has passed.
   */
  void onOverloaded(long nonce) {
    if (keepAlives.answered(nonce).isPresent()) {
      scheduleKeepAlive(lease.validity().remainingNanos(loop.nanos()) / 3);
    }
  }

  /**
   * The server has contact again: it can vouch for more than it could when it was asked last, and
   * little may be left of that.
   */
  void onSafe() {
    if (nextKeepAlive.isPresent()) {
      scheduleKeepAlive(0);
    }
  }

  /** Returns whether the deadline has passed. */
  boolean isExpired() {
    return lease.validity().remainingNanos(loop.nanos()) <= 0;
  }

  /** The lease is over. */
  void end() {
    onBroken();
    deadlineWatch.ifPresent(Loop.Timer::cancel);
    deadlineWatch = Optional.empty();
  }

  private void extend(long sentAtNanos, long validForNanos) {
    lastValidForNanos = validForNanos;
    long before = lease.validity().untilNanos();
    lease.validity().extend(sentAtNanos, validForNanos);
    if (lease.validity().untilNanos() != before) {
      warnInTime();
    }
    if (lease.validity().remainingNanos(loop.nanos()) > warningNanos) {
      warned = false;
    }
    watchDeadline();
  }

  /** Warns later than a keep-alive is due, and before what is left is over, however little. */
  private void warnInTime() {
    long fresh = Math.max(0, lease.validity().remainingNanos(loop.nanos()));
    warningNanos = Math.min(longestWarningNanos, Math.min(lease.ttlNanos(), fresh) / 3);
  }

  private void scheduleKeepAlive() {
    scheduleKeepAlive(Math.min(lease.ttlNanos(), lastValidForNanos) / 3);
  }

  private void scheduleKeepAlive(long delayNanos) {
    nextKeepAlive.ifPresent(Loop.Timer::cancel);
    nextKeepAlive =
        Optional.of(loop.schedule(Math.max(MIN_INTERVAL_NANOS, delayNanos), this::keepAlive));
  }

  /**
   * Sends a keep-alive besides: its answer comes after what the server has to say before. It may
   * take a while, until the next one should have been answered.
   */
  void keepAliveOnce() {
    owner.sendKeepAlive(keepAlives.sent(loop.nanos()));
  }

  private void keepAlive() {
    owner.sendKeepAlive(keepAlives.sent(loop.nanos()));
    scheduleKeepAlive();
    if (silenceWatch.isEmpty()) {
      silenceWatch = Optional.of(loop.schedule(silenceNanos(), this::onSilenceWatch));
    }
  }

  /** Measured by the time to live: that the server promises less says nothing of the stream. */
  private long silenceNanos() {
    return Math.max(MIN_SILENCE_NANOS, Math.min(MAX_SILENCE_NANOS, lease.ttlNanos() / 6));
  }

  private void onSilenceWatch() {
    silenceWatch = Optional.empty();
    long silence = keepAlives.longestSilenceNanos(loop.nanos());
    if (silence >= silenceNanos()) {
      owner.onSilence();
    } else if (keepAlives.isWaiting()) {
      silenceWatch = Optional.of(loop.schedule(silenceNanos() - silence, this::onSilenceWatch));
    }
  }

  private void watchDeadline() {
    deadlineWatch.ifPresent(Loop.Timer::cancel);
    long remaining = lease.validity().remainingNanos(loop.nanos());
    long wait = warned ? remaining : remaining - warningNanos;
    deadlineWatch = Optional.of(loop.schedule(wait, this::onDeadlineWatch));
  }

  private void onDeadlineWatch() {
    long remaining = lease.validity().remainingNanos(loop.nanos());
    if (remaining <= 0) {
      owner.onExpired();
      return;
    }
    if (remaining <= warningNanos && !warned) {
      warned = true;
      owner.onAboutToExpire(remaining);
    }
    watchDeadline();
  }
}
