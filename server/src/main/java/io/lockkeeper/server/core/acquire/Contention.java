package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.util.Optional;

/**
 * Whether somebody waits for what an acquisition holds, for those that want to know. Whoever waits
 * is in the queue, so it makes no difference who serves him; who has asked here is on his way into
 * it. A freeze counts as well: it keeps the next from being granted, and is often there for the
 * locks to become free.
 */
public final class Contention {

  private final CoreState core;
  private final Freezes freezes;

  public Contention(CoreState core, Freezes freezes) {
    this.core = core;
    this.freezes = freezes;
  }

  /** Returns how many wait for a lock that is held, if the acquisition wants to know; else zero. */
  int waiters(Acquisition acquisition, LockName lock) {
    return acquisition.notifiesContention() && core.mirror.isCurrent()
        ? acquisition.hold(lock).map(this::waiters).orElse(0)
        : 0;
  }

  /** What is granted by other proof than the queue may look as if it waited itself. */
  private int waiters(Hold hold) {
    int waiting = core.mirror.queue(hold.lock()).map(LockQueue::waiting).orElse(0);
    boolean itself = hold.entryIn(core.mirror).filter(entry -> !entry.holds()).isPresent();
    return Math.max(0, itself ? waiting - 1 : waiting);
  }

  /** Returns what to say of somebody who has asked for a lock and is not in its queue yet. */
  Optional<Notice.Contended> ofArriving(Acquisition acquisition, LockName lock) {
    return acquisition.notifiesContention() && core.mirror.isCurrent()
        ? Optional.of(new Notice.Contended(lock, 1, freezes.known(lock)))
        : Optional.empty();
  }

  /** Returns what to say of the first of its locks for which somebody waits or that is frozen. */
  Optional<Notice.Contended> of(Acquisition acquisition) {
    if (!acquisition.notifiesContention() || !core.mirror.isCurrent()) {
      return Optional.empty();
    }
    for (Hold hold : acquisition.holds()) {
      int waiters = waiters(hold);
      Optional<FreezeView> frozen = freezes.known(hold.lock());
      if (waiters > 0 || frozen.isPresent()) {
        return Optional.of(new Notice.Contended(hold.lock(), waiters, frozen));
      }
    }
    return Optional.empty();
  }
}
