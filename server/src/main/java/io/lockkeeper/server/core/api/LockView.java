package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One lock as this coordinator sees it.
 *
 * @param lock the lock
 * @param holders the holders, in the order of the queue, 1,000 at most
 * @param queueLength how many wait
 * @param queue the first of those who wait, as many as were asked for
 * @param revision the newest zxid that changed this lock, zero if not known
 * @param configuredLimit the limit of permits that was configured, if one was
 * @param delayedForNanos how long until the next grant, while a lost holder's delay is running
 * @param frozen the freeze that the lock is under, if it is
 */
public record LockView(
    LockName lock,
    List<Contender> holders,
    int queueLength,
    List<Contender> queue,
    long revision,
    OptionalInt configuredLimit,
    Optional<Long> delayedForNanos,
    Optional<FreezeView> frozen) {}
