package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/** Turns what the mirror sees into grants. */
final class Grants {

  private final World world;
  private final Sessions sessions;
  private final Views views;
  private final Limits limits;
  private final Acquisitions acquisitions;
  private final Delays delays;
  private BiConsumer<LockName, Entry> onDeparted = (lock, entry) -> {};

  Grants(
      World world,
      Sessions sessions,
      Views views,
      Acquisitions acquisitions,
      Delays delays,
      Limits limits) {
    this.world = world;
    this.delays = delays;
    this.limits = limits;
    delays.listen(this::advance);
    this.sessions = sessions;
    this.views = views;
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
      publish(lock, LockChange.Cause.LIMIT, Optional.empty());
    }
  }

  void onAppeared(StoreEvent.EntryAppeared event) {
    world
        .mirror
        .appeared(event.lock(), event.entry(), event.zxid(), world.now)
        .ifPresent(
            entry -> {
              bind(event.lock(), entry);
              advance(event.lock());
              if (world.mirror.isCurrent() && !entry.holds()) {
                publish(event.lock(), LockChange.Cause.QUEUED, entry);
              }
              limits.onQueued(event.lock(), entry);
              entry.ticket().ifPresent(this::settle);
            });
  }

  /** Makes an entry its acquisition's, if it is ours. */
  void bind(LockName lock, Entry entry) {
    entry
        .name()
        .id()
        .flatMap(id -> Optional.ofNullable(world.tickets.get(id)))
        // What one acquisition created may be others' of its owner by the time it is adopted.
        .filter(t -> t.revival().isEmpty() || t.hold(lock, entry.name().text()).isPresent())
        .ifPresent(
            ticket -> {
              entry.bind(lock, ticket);
              ticket.seen().add(lock);
              ticket.goesOn().forEach(hold -> placedBeside(ticket, hold, lock));
            });
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
    advance(lock, () -> publish(lock, causeOf(departure), entry));
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
    return entry.hold().stream()
        .flatMap(hold -> hold.users().stream())
        .filter(Grants::isLive)
        .toList();
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
    advance(lock, () -> publish(lock, LockChange.Cause.RELEASED, entry));
  }

  private void advance(LockName lock) {
    advance(lock, () -> {});
  }

  /** Applies the admission rule to one queue, unless the mirror may be wrong. */
  private void advance(LockName lock, Runnable afterAdmission) {
    if (!world.mirror.isCurrent()) {
      return;
    }
    List<Entry> admitted = world.mirror.queue(lock).map(this::admit).orElse(List.of());
    afterAdmission.run();
    for (Entry entry : admitted) {
      // A waiter that has given up and is on its way out is granted nothing.
      if (entry.ticket().map(Grants::isLive).orElse(true)) {
        publish(lock, LockChange.Cause.GRANTED, entry);
      }
      entry.ticket().ifPresent(this::settle);
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

  private static boolean isLive(Ticket ticket) {
    return ticket.acquisition().isWaiting() || ticket.acquisition().isHeld();
  }

  /** Grants the acquisition if everything allows it, and otherwise tells it that it waits. */
  void settle(Ticket ticket) {
    boolean queued = ticket.acquisition().state() == Acquisition.State.QUEUED;
    boolean part =
        ticket.revival().filter(revived -> revived.isPart(ticket.holds().size())).isPresent();
    if (!queued || part || ticket.isDormant() || !isSeen(ticket)) {
      return;
    }
    if (holdsAll(ticket)) {
      sessions
          .find(ticket.lease().session())
          .filter(session -> session.isSure() && sessions.boundLeftNanos(session) > 0)
          .ifPresent(session -> acquisitions.grant(ticket));
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
    return ticket.revival().filter(Revival::isAssured).isPresent()
        || ticket.holds().stream().allMatch(hold -> hold.isHeldBeside(ticket) || isHeldAlone(hold));
  }

  private boolean isHeldAlone(Hold hold) {
    return world
        .mirror
        .find(hold.lock(), hold.name().text())
        .filter(e -> e.holds() && !e.isReleased())
        .isPresent();
  }

  private void publish(LockName lock, LockChange.Cause cause, Entry entry) {
    publish(lock, cause, Optional.of(entry));
  }

  /** Tells the watchers that a lock has changed. */
  void publish(LockName lock, LockChange.Cause cause, Optional<Entry> entry) {
    world.emit(new Effect.Publish(views.change(lock, cause, entry)));
  }
}
