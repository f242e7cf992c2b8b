package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One lock as this coordinator sees it.
 *
 * @param lock the lock
 * @param holders the holders, in the order of the queue
 * @param queueLength how many wait
 * @param queue the first of those who wait, as many as were asked for
 * @param revision the newest zxid that changed this lock, zero if not known
 * @param configuredLimit the limit of permits that was configured, if one was
 * @param delayedForNanos how long until the next grant, while a lost holder's delay is running
 */
public record LockView(
    LockName lock,
    List<Contender> holders,
    int queueLength,
    List<Contender> queue,
    long revision,
    OptionalInt configuredLimit,
    Optional<Long> delayedForNanos) {

  /** Returns whether the token of every holder is known: only then the view may be shown. */
  public boolean isNamed() {
    return holders.stream().allMatch(holder -> holder.token().isPresent());
  }

  /** Returns the view without those holders of whom too little is known. */
  public LockView named() {
    return isNamed()
        ? this
        : new LockView(
            lock,
            holders.stream().filter(holder -> holder.token().isPresent()).toList(),
            queueLength,
            queue,
            revision,
            configuredLimit,
            delayedForNanos);
  }
}
