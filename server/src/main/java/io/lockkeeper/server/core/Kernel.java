package io.lockkeeper.server.core;

import io.lockkeeper.server.core.acquire.Freezes;
import io.lockkeeper.server.core.acquire.LockDelays;
import io.lockkeeper.server.core.acquire.Views;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.QueueExtremes;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.PathSizes;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.request.Leases;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Lease;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Everything that a coordinator decides, as one deterministic state machine: events and the time go
 * in, effects come out. Not thread-safe: one thread runs it.
 */
public final class Kernel {

  // Some milliseconds: who asks for a lock meanwhile waits for so long.
  private static final int QUEUES_LOOKED_AT = 20_000;

  public final CoreState core;
  private final SessionPool pool;
  private final Freezes freezes;
  private final Views views;
  private final Leases leases;
  private final Dispatch dispatch;
  private final QueueTour tour = new QueueTour(QUEUES_LOOKED_AT);

  /** Makes the state machine of a coordinator that has seen nothing yet. */
  public Kernel(CoreSettings settings, PathSizes pathSizes) {
    core = new CoreState(settings, pathSizes);
    pool = new SessionPool(core);
    freezes = new Freezes(core);
    LockDelays delays = new LockDelays(core, freezes);
    views = new Views(core, delays, freezes);
    dispatch = new Dispatch(core, pool, views, delays, freezes);
    leases = dispatch.leases();
  }

  /** Begins: opens the first lock session. */
  public List<Effect> start(long nowNanos) {
    core.now = nowNanos;
    pool.open();
    return core.takeEffects();
  }

  /**
   * Takes one event.
   *
   * @param nowNanos the time on the monotonic clock; never runs backwards
   * @return what to do, in this order
   */
  public List<Effect> on(Event event, long nowNanos) {
    core.now = nowNanos;
    event.applyTo(dispatch);
    dispatch.followUp();
    return core.takeEffects();
  }

  /** Returns when the next {@link TimeEvent.Tick} is due, if any is. */
  public OptionalLong nextDeadline() {
    return core.timers.next();
  }

  /** Returns whether the mirror is whole. */
  public boolean mirrorIsCurrent() {
    return core.mirror.isCurrent();
  }

  /** Returns the newest zxid that the mirror has seen. */
  public long revision() {
    return core.mirror.revision();
  }

  /** Returns the frozen prefixes, in their order. */
  public List<FreezeView> frozen(long nowNanos) {
    core.now = nowNanos;
    return freezes.all();
  }

  /** Returns one lock with up to {@code queueLimit} waiters; nothing is read for it. */
  public LockView lock(LockName lock, int queueLimit, long nowNanos) {
    core.now = nowNanos;
    return views.showAll(views.see(lock, queueLimit));
  }

  /** Returns the names of the locks in use, in order. */
  public NavigableSet<LockName> names() {
    return core.mirror.queues().navigableKeySet();
  }

  /** Returns the names that begin with {@code prefix} of the locks that have entries, in order. */
  public Stream<LockName> occupied(String prefix) {
    return LockName.firstFrom(prefix)
        .map(first -> core.mirror.queues().tailMap(first).values().stream())
        .orElseGet(Stream::empty)
        .takeWhile(queue -> queue.lock().value().startsWith(prefix))
        .filter(queue -> !queue.isEmpty())
        .map(LockQueue::lock);
  }

  /** Returns a lease that {@code by} may use, with up to {@code limit} acquisitions. */
  public Optional<LeaseView> lease(Caller by, LeaseId id, int limit, long nowNanos) {
    core.now = nowNanos;
    return leases
        .find(id)
        .filter(lease -> !lease.isEnding() && lease.isUsableBy(by))
        .map(lease -> views.lease(lease, limit));
  }

  /** Returns what to say of a lease that {@code by} names and cannot be shown. */
  public Failure unknownLease(Caller by, LeaseId id) {
    core.caller = by;
    try {
      return leases.unknown(id);
    } finally {
      core.caller = Caller.ANYBODY;
    }
  }

  /**
   * Returns up to {@code limit} leases that {@code by} may use whose tags come after {@code
   * afterTag}, ordered by tag.
   */
  public List<LeaseView> leases(Caller by, String afterTag, int limit, long nowNanos) {
    core.now = nowNanos;
    return core.leases.values().stream()
        .filter(lease -> !lease.isEnding() && lease.isUsableBy(by))
        .filter(lease -> lease.id().tag().compareTo(afterTag) > 0)
        .sorted(Comparator.comparing((Lease lease) -> lease.id().tag()))
        .limit(limit)
        .map(lease -> views.lease(lease, 0))
        .toList();
  }

  /** Returns the numbers that describe the state. */
  public CoreCounts counts(long nowNanos) {
    core.now = nowNanos;
    int held = 0;
    int owed = 0;
    for (Acquisition acquisition : core.acquisitions.values()) {
      held += acquisition.state().isHeld() ? 1 : 0;
      owed += acquisition.state().isHeld() || acquisition.state().isWaiting() ? 0 : 1;
    }
    return new CoreCounts(
        core.mirror.isCurrent(),
        core.leases.size(),
        core.acquisitions.size(),
        held,
        owed,
        core.mirror.queues().size(),
        core.mirror.entryCount(),
        pool.all().stream().map(this::count).toList());
  }

  /**
   * Looks at some more queues, and begins again when all were looked at.
   *
   * @return the extremes of all queues, if those were the last
   */
  public Optional<QueueExtremes> lookAtQueues(long nowNanos) {
    return tour.goOn(core.mirror.queues(), nowNanos);
  }

  private CoreCounts.SessionCounts count(LockSession session) {
    return new CoreCounts.SessionCounts(
        session.key(),
        pool.boundLeftNanos(session) > 0,
        session.isSure(),
        session.pathBytes(),
        session.leases().size());
  }
}
