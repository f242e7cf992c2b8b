package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Has the entries of acquisitions that have ended deleted, as soon as that may be. It waits
 *
 * <ul>
 *   <li>for the answer to their creation, and to that of what is to be placed beside them: the
 *       store promises no order between a creation and a deletion;
 *   <li>on a session whose bound was lost, until its holders have heard so;
 *   <li>in a coordinator that leaves, until a client without a lease has heard so;
 *   <li>after a takeover, until nobody else can vouch for them, unless their client has given them
 *       back or their lease has ended: one lock that was taken away is no reason to let others into
 *       those that nobody touched.
 * </ul>
 */
public final class Deletions {

  private final CoreState core;
  private final SessionPool pool;

  public Deletions(CoreState core, SessionPool pool) {
    this.core = core;
    this.pool = pool;
  }

  /** An acquisition has given up its holds: their entries are to go. */
  void begin(Acquisition acquisition) {
    boolean late = core.draining && acquisition.lease().isStream() && acquisition.wasGranted();
    acquisition.deleteFrom(late ? core.now + core.settings.tick().toNanos() : core.now);
    proceed(acquisition);
  }

  /** Something has changed for an acquisition: deletes its entries if they are to go and may. */
  void proceed(Acquisition acquisition) {
    if (!acquisition.isToBeDeleted() || !acquisition.isAnswered() || awaitsFollower(acquisition)) {
      return;
    }
    long from = earliest(acquisition);
    if (from - core.now > 0) {
      acquisition.timers().deletesAt(core.timers, core.timers.at(from, () -> proceed(acquisition)));
      return;
    }
    List<EntryRef> entries = new ArrayList<>(acquisition.holds().size());
    for (Hold hold : acquisition.holds()) {
      entries.add(hold.ref());
    }
    acquisition.deleting(entries);
    core.emit(
        new StoreEffect.DeleteEntries(acquisition.lease().session(), acquisition.id(), entries));
  }

  /** ZooKeeper has answered the creation of an acquisition's entries. */
  void onAnswered(Acquisition acquisition) {
    proceed(acquisition);
    for (Hold hold : acquisition.holds()) {
      hold.beside().ifPresent(base -> proceed(base.acquisition()));
    }
  }

  private static boolean awaitsFollower(Acquisition acquisition) {
    for (Hold hold : acquisition.holds()) {
      if (hold.awaitsFollower()) {
        return true;
      }
    }
    return false;
  }

  private long earliest(Acquisition acquisition) {
    long from = latest(acquisition.deletableFromNanos(), emptiedFrom(acquisition));
    boolean wanted = acquisition.isGivenBack() || acquisition.lease().isEnding();
    return wanted ? from : latest(from, acquisition.awakeAtNanos(core.now));
  }

  private static long latest(long a, long b) {
    return a - b > 0 ? a : b;
  }

  private long emptiedFrom(Acquisition acquisition) {
    Optional<LockSession> session = pool.find(acquisition.lease().session());
    return session.isPresent() ? session.get().emptiedFromNanos(core.now) : core.now;
  }
}
