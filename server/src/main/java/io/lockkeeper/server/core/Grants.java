package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiConsumer;

/** Turns what the mirror sees into grants. */
final class Grants {

  private final World world;
  private final Sessions sessions;
  private final Changes changes;
  private final Limits limits;
  private final Acquisitions acquisitions;
  private final Delays delays;
  private BiConsumer<LockName, Entry> onDeparted = (lock, entry) -> {};

  Grants(
      World world,
      Sessions sessions,
      Changes changes,
      Acquisitions acquisitions,
      Delays delays,
      Limits limits) {
    this.world = world;
    this.delays = delays;
    this.limits = limits;
    delays.listen(this::advance);
    this.sessions = sessions;
    this.changes = changes;
    this.acquisitions = acquisitions;
  }

  /** Says who hears of entries that are gone. */
  void listen(BiConsumer<LockName, Entry> listener) {
    onDeparted = listener;
  }

  void onMarkerAppeared(StoreEvent.MarkerAppeared event) {
    world.mirror.markerAppeared(event.lock(), event.marker(), event.zxid());
    if (event.marker() instanceof MarkerName.Guard guard) {
      delays.onAppeared(event.lock(), guard);
    } else {
      onLimit(event.lock());
    }
  }

  void onMarkerVanished(LockName lock, MarkerName marker, long zxid) {
    if (!world.mirror.markerVanished(lock, marker, zxid)) {
      return;
    }
    if (marker instanceof MarkerName.Guard guard) {
      world
          .mirror
          .queue(lock)
          .flatMap(queue -> queue.entryOf(guard.id()))
          .ifPresent(Entry::markLeftCleanly);
      delays.onVanished(lock, guard);
    } else {
      onLimit(lock);
    }
  }

  private void onLimit(LockName lock) {
    limits.onChanged(lock);
    advance(lock);
    if (world.mirror.isCurrent()) {
      changes.publish(lock, LockChange.Cause.LIMIT, Optional.empty());
    }
  }

  void onAppeared(StoreEvent.EntryAppeared event) {
    world
        .mirror
        .appeared(event.lock(), event.entry(), event.zxid(), world.now)
        .ifPresent(entry -> arrived(event.lock(), entry));
  }

  private void arrived(LockName lock, Entry entry) {
    bind(lock, entry);
    advance(lock);
    if (world.mirror.isCurrent() && !entry.holds()) {
      changes.publish(lock, LockChange.Cause.QUEUED, entry);
    }
    limits.onQueued(lock, entry);
    entry.ticket().ifPresent(this::settle);
  }

  /** Makes an entry its acquisition's, if it is ours. */
  void bind(LockName lock, Entry entry) {
    Optional<UUID> id = entry.name().id();
    Ticket ticket = id.isPresent() ? world.tickets.get(id.get()) : null;
    if (ticket == null) {
      return;
    }
    // What one acquisition created may be others' of its owner by the time it is adopted.
    if (ticket.revival().isEmpty() || ticket.hold(lock, entry.name().text()).isPresent()) {
      entry.bind(lock, ticket);
      ticket.seen().add(lock);
      for (Hold hold : ticket.goesOn()) {
        placedBeside(ticket, hold, lock);
      }
    }
  }

  /** Makes those entries an acquisition's that the mirror shows. */
  void rebind(Ticket ticket) {
    for (Hold hold : ticket.holds()) {
      world
          .mirror
          .find(hold.lock(), hold.name().text())
          .ifPresent(
              entry -> {
                entry.bind(hold.lock(), ticket);
                ticket.seen().add(hold.lock());
              });
    }
  }

  private static void placedBeside(Ticket ticket, Hold hold, LockName lock) {
    if (hold.lock().equals(lock)) {
      hold.followers().remove(ticket);
    }
  }

  /** An entry is gone: seen by the mirror, or known from the answer to our own deletion. */
  void onVanished(LockName lock, String name, long zxid) {
    world.mirror.vanished(lock, name, zxid).ifPresent(entry -> departed(lock, entry));
  }

  private void departed(LockName lock, Entry entry) {
    boolean delayed = delays.onGone(lock, entry);
    Departure departure = departureOf(entry, delayed);
    losers(entry).forEach(t -> acquisitions.apply(t, new AcquisitionEvent.Removed()));
    onDeparted.accept(lock, entry);
    if (entry.isReleased()) {
      advance(lock);
      return;
    }
    boolean wasHeld =
        entry.ticket().isPresent()
            ? entry.hold().filter(hold -> wasHeld(entry, hold)).isPresent()
            : entry.holds();
    if (wasHeld) {
      world.mirror.noteDeparture(lock, departure);
    }
    advance(lock, causeOf(departure), entry);
  }

  private static boolean wasHeld(Entry entry, Hold hold) {
    return hold.wasGranted()
        || (entry.holds() && hold.users().stream().anyMatch(Ticket::isDormant));
  }

  private static Departure departureOf(Entry entry, boolean delayed) {
    Departure told = entry.ticket().map(Ticket::departure).orElse(Departure.UNKNOWN);
    if (told != Departure.UNKNOWN) {
      return told;
    }
    if (delayed) {
      return Departure.LOST;
    }
    return entry.leftCleanly() ? Departure.RELEASED : Departure.UNKNOWN;
  }

  /** Returns the acquisitions that relied on the entry. */
  private static List<Ticket> losers(Entry entry) {
    Optional<Hold> hold = entry.hold();
    if (hold.isEmpty() || hold.get().users().isEmpty()) {
      return List.of();
    }
    return hold.get().users().stream().filter(user -> user.acquisition().isLive()).toList();
  }

  private static LockChange.Cause causeOf(Departure departure) {
    return switch (departure) {
      case RELEASED -> LockChange.Cause.RELEASED;
      case WITHDRAWN -> LockChange.Cause.WITHDRAWN;
      case LEASE_ENDED -> LockChange.Cause.LEASE_ENDED;
      case FORCED -> LockChange.Cause.FORCED;
      case SESSION_LOST, LOST, UNKNOWN -> LockChange.Cause.REMOVED;
    };
  }

  /**
   * The holder has released and its deletion is on its way: the next may hold now, since a correct
   * holder has stopped using the lock when it releases it.
   */
  void onReleasing(Ticket ticket) {
    if (!world.settings.handOffAhead()) {
      return;
    }
    for (Hold hold : ticket.holds()) {
      // Somebody who is to be placed beside the entry comes before whoever waits: that place must
      // be
      // known first.
      if (hold.users().isEmpty() && hold.followers().isEmpty() && !hold.leavesGuard()) {
        world
            .mirror
            .find(hold.lock(), hold.name().text())
            .ifPresent(entry -> handOff(hold.lock(), entry));
      }
    }
  }

  private void handOff(LockName lock, Entry entry) {
    entry.markReleased();
    world.mirror.noteDeparture(lock, Departure.RELEASED);
    advance(lock, LockChange.Cause.RELEASED, entry);
  }

  /** Applies the admission rule to one queue, unless the mirror may be wrong. */
  private void advance(LockName lock) {
    if (world.mirror.isCurrent()) {
      settle(lock, admitted(lock));
    }
  }

  /** The same when an entry is gone, of which watchers hear before they hear who is next. */
  private void advance(LockName lock, LockChange.Cause cause, Entry gone) {
    if (world.mirror.isCurrent()) {
      List<Entry> admitted = admitted(lock);
      changes.publish(lock, cause, gone);
      settle(lock, admitted);
    }
  }

  private List<Entry> admitted(LockName lock) {
    Optional<LockQueue> queue = world.mirror.queue(lock);
    return queue.isPresent() ? admit(queue.get()) : List.of();
  }

  private void settle(LockName lock, List<Entry> admitted) {
    for (Entry entry : admitted) {
      Optional<Ticket> ticket = entry.ticket();
      // A waiter that has given up and is on its way out is granted nothing.
      if (ticket.isEmpty() || ticket.get().acquisition().isLive()) {
        changes.publish(lock, LockChange.Cause.GRANTED, entry);
      }
      if (ticket.isPresent()) {
        settle(ticket.get());
      }
    }
  }

  /** Applies the admission rule to one queue, unless a delay keeps it closed. */
  List<Entry> admit(LockQueue queue) {
    if (delays.isDelayed(queue.lock())) {
      queue.admitNobody();
      return List.of();
    }
    return queue.admit(world.now, world.mirror.limit(queue.lock()));
  }

  /** Grants the acquisition if everything allows it, and otherwise tells it that it waits. */
  void settle(Ticket ticket) {
    boolean queued = ticket.acquisition().state() == Acquisition.State.QUEUED;
    boolean part =
        ticket.revival().isPresent() && ticket.revival().get().isPart(ticket.holds().size());
    if (!queued || part || ticket.isDormant() || !isSeen(ticket)) {
      return;
    }
    if (holdsAll(ticket)) {
      Optional<LockSession> session = sessions.find(ticket.lease().session());
      if (session.isPresent()
          && session.get().isSure()
          && sessions.boundLeftNanos(session.get()) > 0) {
        acquisitions.grant(ticket);
      }
    } else if (!ticket.wasPlaced()) {
      acquisitions.place(ticket);
    }
  }

  /** What is shared with somebody who holds it needs no look at the queues. */
  private boolean isSeen(Ticket ticket) {
    int fresh = ticket.planned().size();
    boolean current = world.mirror.isCurrent();
    return fresh == 0
        ? current || ticket.holds().stream().allMatch(hold -> hold.isHeldBeside(ticket))
        : current && ticket.seen().size() >= fresh;
  }

  private boolean holdsAll(Ticket ticket) {
    if (ticket.revival().isPresent() && ticket.revival().get().isAssured()) {
      return true;
    }
    for (Hold hold : ticket.holds()) {
      if (!hold.isHeldBeside(ticket) && !isHeldAlone(hold)) {
        return false;
      }
    }
    return true;
  }

  private boolean isHeldAlone(Hold hold) {
    Optional<Entry> entry = world.mirror.find(hold.lock(), hold.name().text());
    return entry.isPresent() && entry.get().holds() && !entry.get().isReleased();
  }
}
