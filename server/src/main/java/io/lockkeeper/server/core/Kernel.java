package io.lockkeeper.server.core;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Everything that a coordinator decides, as one deterministic state machine: events and the time go
 * in, effects come out. Not thread-safe: one thread runs it.
 */
public final class Kernel {

  final World world;
  private final Sessions sessions;
  private final Views views;
  private final Leases leases;
  private final Dispatch dispatch;

  /** Makes the state machine of a coordinator that has seen nothing yet. */
  public Kernel(CoreSettings settings, PathSizes pathSizes) {
    world = new World(settings, pathSizes);
    sessions = new Sessions(world);
    Delays delays = new Delays(world);
    views = new Views(world, delays);
    dispatch = new Dispatch(world, sessions, views, delays);
    leases = dispatch.leases();
  }

  /** Begins: opens the first lock session. */
  public List<Effect> start(long nowNanos) {
    world.now = nowNanos;
    sessions.open();
    return world.takeEffects();
  }

  /**
   * Takes one event.
   *
   * @param nowNanos the time on the monotonic clock; never runs backwards
   * @return what to do, in this order
   */
  public List<Effect> on(Event event, long nowNanos) {
    world.now = nowNanos;
    event.applyTo(dispatch);
    dispatch.settle();
    return world.takeEffects();
  }

  /** Returns when the next {@link TimeEvent.Tick} is due, if any is. */
  public OptionalLong nextDeadline() {
    return world.timers.next();
  }

  /** Returns whether the mirror is whole. */
  public boolean mirrorIsCurrent() {
    return world.mirror.isCurrent();
  }

  /** Says whether changes are described, or only told to have happened: nobody watches. */
  public void describeChanges(boolean describe) {
    world.describesChanges = describe;
  }

  /** Returns the newest zxid that the mirror has seen. */
  public long revision() {
    return world.mirror.revision();
  }

  /** Returns one lock with up to {@code queueLimit} waiters. */
  public LockView lock(LockName lock, int queueLimit, long nowNanos) {
    world.now = nowNanos;
    return views.lock(lock, queueLimit);
  }

  /**
   * Returns up to {@code limit} locks in use whose names begin with {@code prefix} and come after
   * {@code after}.
   */
  public List<LockView> locks(String prefix, Optional<LockName> after, int limit, long nowNanos) {
    world.now = nowNanos;
    return from(prefix, after)
        .takeWhile(queue -> queue.lock().value().startsWith(prefix))
        .limit(limit)
        .map(queue -> views.lock(queue, 0))
        .toList();
  }

  /** Returns the names of the locks in use that begin with {@code prefix}, in order. */
  public List<LockName> names(String prefix) {
    return from(prefix, Optional.empty())
        .map(LockQueue::lock)
        .takeWhile(name -> name.value().startsWith(prefix))
        .toList();
  }

  /** Names that begin with a prefix are contiguous in the order of names. */
  private Stream<LockQueue> from(String prefix, Optional<LockName> after) {
    return after
        .map(name -> world.mirror.queues().tailMap(name, false).values().stream())
        .orElseGet(() -> world.mirror.all().stream())
        .dropWhile(queue -> queue.lock().value().compareTo(prefix) < 0);
  }

  /**
   * Returns the entries that a view of the lock would show and of which nothing is known but the
   * name.
   */
  public List<String> undescribed(LockName lock, int queueLimit) {
    return world
        .mirror
        .queue(lock)
        .map(
            queue ->
                Stream.concat(queue.holders().stream(), queue.waiters(queueLimit).stream())
                    .filter(entry -> entry.details().isEmpty())
                    .map(entry -> entry.name().text())
                    .toList())
        .orElse(List.of());
  }

  /** Returns a lease with up to {@code limit} acquisitions. */
  public Optional<LeaseView> lease(LeaseId id, int limit, long nowNanos) {
    world.now = nowNanos;
    return leases.find(id).filter(lease -> !lease.isEnding()).map(l -> views.lease(l, limit));
  }

  /** Returns up to {@code limit} leases whose tags come after {@code afterTag}, ordered by tag. */
  public List<LeaseView> leases(String afterTag, int limit, long nowNanos) {
    world.now = nowNanos;
    return world.leases.values().stream()
        .filter(lease -> !lease.isEnding() && lease.id().tag().compareTo(afterTag) > 0)
        .sorted(Comparator.comparing((Lease lease) -> lease.id().tag()))
        .limit(limit)
        .map(lease -> views.lease(lease, 0))
        .toList();
  }

  /** Returns the numbers that describe the state. */
  public CoreCounts counts(long nowNanos) {
    world.now = nowNanos;
    int held = 0;
    int owed = 0;
    for (Ticket ticket : world.tickets.values()) {
      held += ticket.acquisition().isHeld() ? 1 : 0;
      owed += ticket.acquisition().isHeld() || ticket.acquisition().isWaiting() ? 0 : 1;
    }
    return new CoreCounts(
        world.mirror.isCurrent(),
        world.leases.size(),
        world.tickets.size(),
        held,
        owed,
        world.mirror.queues().size(),
        world.mirror.entryCount(),
        sessions.all().stream().map(this::count).toList());
  }

  private CoreCounts.SessionCounts count(LockSession session) {
    return new CoreCounts.SessionCounts(
        session.key(),
        sessions.boundLeftNanos(session) > 0,
        session.isSure(),
        session.pathBytes(),
        session.leases().size());
  }
}
