package io.lockkeeper.client.internal.lease;

import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Keeps one lease alive and watches its deadline. Keep-alives are sent as often as the server asks
 * for, and must be answered within a sixth of the time to live, or two intervals if that is less:
 * so a silent stream is given up while there is time to find another. The deadline is watched even
 * without a stream. On the client's loop only.
 */
public final class LeaseRenewal {

  /** However short an interval a server names. */
  private static final long MIN_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final long MIN_SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long MAX_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Loop loop;
  private final Lease lease;
  private final long longestWarningNanos;
  private final RenewalListener listener;
  private final KeepAlives keepAlives = new KeepAlives();
  private final ResettableTimer nextKeepAlive;
  private final ResettableTimer silenceWatch;
  private final ResettableTimer deadlineWatch;
  private long intervalNanos;
  private long lastSentNanos;
  private long warningNanos;
  private boolean warned;

  /** Hears what is due; its keep-alives go out on whatever stream is open. */
  public interface RenewalListener {
    /** A keep-alive is due. */
    void sendKeepAlive(long nonce);

    /** A keep-alive has had no answer for too long: the stream may be dead. */
    void onSilence();

    /** The deadline is near. */
    void onAboutToExpire(long remainingNanos);

    /** The deadline has passed. */
    void onExpired();
  }

  public LeaseRenewal(Loop loop, Lease lease, long longestWarningNanos, RenewalListener listener) {
    this.loop = loop;
    this.lease = lease;
    this.longestWarningNanos = longestWarningNanos;
    this.listener = listener;
    this.nextKeepAlive = new ResettableTimer(loop);
    this.silenceWatch = new ResettableTimer(loop);
    this.deadlineWatch = new ResettableTimer(loop);
    warnInTime();
    watchDeadline();
  }

  /** A stream was opened by a request sent at {@code sentAtNanos}: keep-alives begin. */
  public void onOpened(long sentAtNanos, Promise promise) {
    extend(sentAtNanos, promise);
    keepAlives.forget();
    lastSentNanos = sentAtNanos;
    scheduleKeepAlive();
  }

  /** The stream is gone: no keep-alives until the next. */
  public void onBroken() {
    nextKeepAlive.cancel();
    silenceWatch.cancel();
  }

  /** A keep-alive was acknowledged. */
  public void onAcknowledged(long nonce, Promise promise) {
    OptionalLong sentAt = keepAlives.answered(nonce);
    if (sentAt.isPresent()) {
      extend(sentAt.getAsLong(), promise);
      scheduleKeepAlive();
    }
  }

  /**
   * The server has not taken a keep-alive. Another one is sent over this stream after the time that
   * it names, and when a third of the time left has passed at the latest.
   *
   * @param isBusy whether the server could serve the lease, but has too much to do: another stream
   *     would be more work. Otherwise a refusal is no better than silence: if no keep-alive is
   *     acknowledged in time, the stream is given up.
   */
  public void onRefused(long nonce, OptionalLong retryAfterNanos, boolean isBusy) {
    boolean isOfThisStream =
        isBusy ? keepAlives.answered(nonce).isPresent() : keepAlives.isUnanswered(nonce);
    if (isOfThisStream && (isBusy || retryAfterNanos.isPresent())) {
      long latest = lease.validity().remainingNanos(loop.nanos()) / 3;
      keepAliveAfter(Math.min(latest, retryAfterNanos.orElse(latest)));
    }
  }

  /**
   * The server is in contact with ZooKeeper again: it can promise more than in its last answer, of
   * which little may be left.
   */
  public void onSafe() {
    if (nextKeepAlive.isSet()) {
      keepAliveAfter(0);
    }
  }

  /** Returns whether the deadline has passed. */
  public boolean isExpired() {
    return lease.validity().remainingNanos(loop.nanos()) <= 0;
  }

  /** The lease is over. */
  public void end() {
    onBroken();
    deadlineWatch.cancel();
  }

  private void extend(long sentAtNanos, Promise promise) {
    intervalNanos = promise.intervalNanos();
    long before = lease.validity().untilNanos();
    lease.validity().extend(sentAtNanos, promise.validForNanos());
    if (lease.validity().untilNanos() != before) {
      warnInTime();
    }
    if (lease.validity().remainingNanos(loop.nanos()) > warningNanos) {
      warned = false;
    }
    watchDeadline();
  }

  /** Warns only after a keep-alive was due, and before the deadline, however near that is. */
  private void warnInTime() {
    long fresh = Math.max(0, lease.validity().remainingNanos(loop.nanos()));
    warningNanos = Math.min(longestWarningNanos, Math.min(lease.ttlNanos(), fresh) / 3);
  }

  /** The interval counts from the sending of the last one, however late its answer. */
  private void scheduleKeepAlive() {
    keepAliveAfter(intervalNanos - (loop.nanos() - lastSentNanos));
  }

  private void keepAliveAfter(long delayNanos) {
    long earliest = MIN_INTERVAL_NANOS - (loop.nanos() - lastSentNanos);
    nextKeepAlive.set(Math.max(earliest, delayNanos), this::keepAlive);
  }

  private void keepAlive() {
    lastSentNanos = loop.nanos();
    listener.sendKeepAlive(keepAlives.sent(lastSentNanos));
    scheduleKeepAlive();
    if (!silenceWatch.isSet()) {
      silenceWatch.set(silenceNanos(), this::onSilenceWatch);
    }
  }

  /** What is promised may be far less than the time to live, and must do for another server. */
  private long silenceNanos() {
    long longest = Math.min(lease.ttlNanos() / 6, 2 * intervalNanos);
    return Math.max(MIN_SILENCE_NANOS, Math.min(MAX_SILENCE_NANOS, longest));
  }

  private void onSilenceWatch() {
    long silence = keepAlives.longestSilenceNanos(loop.nanos());
    if (silence >= silenceNanos()) {
      listener.onSilence();
    } else if (keepAlives.isWaiting()) {
      silenceWatch.set(silenceNanos() - silence, this::onSilenceWatch);
    }
  }

  private void watchDeadline() {
    long remaining = lease.validity().remainingNanos(loop.nanos());
    long wait = warned ? remaining : remaining - warningNanos;
    deadlineWatch.set(wait, this::onDeadlineWatch);
  }

  private void onDeadlineWatch() {
    long remaining = lease.validity().remainingNanos(loop.nanos());
    if (remaining <= 0) {
      listener.onExpired();
      return;
    }
    if (remaining <= warningNanos && !warned) {
      warned = true;
      listener.onAboutToExpire(remaining);
    }
    watchDeadline();
  }
}
