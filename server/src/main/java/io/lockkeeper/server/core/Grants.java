package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Turns what the mirror sees into grants. */
final class Grants {

  private final World world;
  private final Sessions sessions;
  private final Changes changes;
  private final Limits limits;
  private final Acquisitions acquisitions;
  private final Delays delays;
  private final Forcings forcings;
  private final Holds holds;
  private final Suppressions suppressions;

  Grants(
      World world,
      Sessions sessions,
      Changes changes,
      Acquisitions acquisitions,
      Delays delays,
      Limits limits,
      Forcings forcings,
      Holds holds,
      Suppressions suppressions) {
    this.suppressions = suppressions;
    this.world = world;
    this.holds = holds;
    this.delays = delays;
    this.limits = limits;
    this.forcings = forcings;
    this.sessions = sessions;
    this.changes = changes;
    this.acquisitions = acquisitions;
  }

  void onMarkerAppeared(StoreEvent.MarkerAppeared event) {
    if (!world.mirror.markerAppeared(event.lock(), event.marker(), event.zxid())) {
      return;
    }
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
      if (delays.onVanished(lock, guard)) {
        advance(lock);
      }
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
    Ticket.of(entry).ifPresent(this::settle);
  }

  /** Makes an entry its acquisition's, if it is ours. */
  void bind(LockName lock, Entry entry) {
    Optional<UUID> id = entry.name().id();
    Ticket ticket = id.isPresent() ? world.tickets.get(id.get()) : null;
    if (ticket != null) {
      ticket.hold(lock).ifPresent(hold -> bind(entry, hold));
    }
  }

  /** Makes those entries an acquisition's that the mirror shows. */
  void bind(Ticket ticket) {
    for (Hold hold : ticket.holds()) {
      hold.entryIn(world.mirror).ifPresent(entry -> bind(entry, hold));
    }
  }

  private void bind(Entry entry, Hold hold) {
    boolean first = Hold.of(entry).isEmpty();
    entry.bind(hold);
    hold.seen();
    if (first && entry.holds() && !hold.wasGranted() && waitsForCommit(entry, hold)) {
      entry.holdNoMore();
    }
  }

  /** While it was another's it may have been let past a released entry: {@link Admission}. */
  private boolean waitsForCommit(Entry entry, Hold hold) {
    boolean past = false;
    Occupancy ahead = Occupancy.free(world.mirror.limit(hold.lock()));
    for (Entry other : world.mirror.queue(hold.lock()).orElseThrow().before(entry)) {
      past |= other.isReleased();
      ahead = ahead.plus(other.name());
    }
    return past && entry.hasOwnGuard() && !ahead.admits(entry.name());
  }

  /**
   * The answer to our own deletion is there: it may come before the mirror's events, and is as
   * certain. But what keeps others out when the entry is gone must be seen first: what was placed
   * beside it, and the guard that a lost holder leaves.
   */
  void onDeleted(Ticket ticket, EntryRef ref) {
    Optional<Hold> hold = ticket.hold(ref.lock());
    if (ticket.isRefused()
        || hold.isEmpty()
        || hold.get().isFollowed()
        || leavesUnseenGuard(hold.get())) {
      return;
    }
    boolean toldBefore =
        world.mirror.isCurrent()
            && hold.get().isSeen()
            && world.mirror.find(ref.lock(), ref.entry()).isEmpty();
    if (!toldBefore) {
      long czxid = hold.get().czxid();
      ref.guard().ifPresent(guard -> suppressions.suppress(ref.lock(), guard, czxid));
      suppressions.suppress(ref.lock(), ref.entry(), czxid);
    }
    ref.guard()
        .flatMap(MarkerName::parse)
        .ifPresent(guard -> onMarkerVanished(ref.lock(), guard, 0));
    onVanished(ref.lock(), ref.entry(), 0);
  }

  private boolean leavesUnseenGuard(Hold hold) {
    return hold.ref().guard().isEmpty()
        && hold.guard()
            .filter(guard -> world.mirror.guard(hold.lock(), guard.id()).isEmpty())
            .isPresent();
  }

  /** An entry is gone: seen by the mirror, or known from the answer to our own deletion. */
  void onVanished(LockName lock, String name, long zxid) {
    world.mirror.vanished(lock, name, zxid).ifPresent(entry -> departed(lock, entry));
  }

  private void departed(LockName lock, Entry entry) {
    boolean delayed = delays.onGone(lock, entry);
    Departure departure = departureOf(entry, delayed);
    Ticket.of(entry)
        .filter(ticket -> ticket.acquisition().isLive())
        .ifPresent(ticket -> acquisitions.apply(ticket, new AcquisitionEvent.Removed()));
    Hold.of(entry).ifPresent(acquisitions::baseGone);
    forcings.onDeparted(lock, entry);
    if (entry.isReleased()) {
      advance(lock);
      return;
    }
    boolean wasHeld =
        Hold.of(entry).isPresent()
            ? Hold.of(entry).filter(hold -> wasHeld(entry, hold)).isPresent()
            : entry.holds();
    if (wasHeld) {
      world.mirror.noteDeparture(lock, departure);
    }
    advance(lock, causeOf(departure), entry);
  }

  private static boolean wasHeld(Entry entry, Hold hold) {
    return hold.wasGranted() || (entry.holds() && hold.ticket().isDormant());
  }

  private static Departure departureOf(Entry entry, boolean delayed) {
    Departure told = Ticket.of(entry).map(Ticket::departure).orElse(Departure.UNKNOWN);
    if (told != Departure.UNKNOWN) {
      return told;
    }
    if (delayed) {
      return Departure.LOST;
    }
    return entry.leftCleanly() ? Departure.RELEASED : Departure.UNKNOWN;
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
      // What is placed beside the entry comes before whoever waits: that must be known first.
      if (!hold.isFollowed()) {
        hold.entryIn(world.mirror).ifPresent(entry -> handOff(hold.lock(), entry));
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
      Optional<Ticket> ticket = Ticket.of(entry);
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

  /** Entries have been created: what is granted by them is granted now. */
  void onCreated(Ticket ticket) {
    // One that was granted ahead of that may be what others of its owner are placed beside.
    boolean ahead = ticket.acquisition().isHeld();
    settle(ticket);
    if (ahead) {
      for (Hold hold : ticket.holds()) {
        hold.here().forEach(other -> settle(other.ticket()));
      }
    }
  }

  /** Grants the acquisition if everything allows it, and otherwise tells it that it waits. */
  void settle(Ticket ticket) {
    boolean again = grantOrPlace(ticket);
    while (again) {
      // Its owner may wait for more at the places that it is known to hold now.
      again = false;
      for (Ticket other : List.copyOf(ticket.lease().tickets().values())) {
        again |= grantOrPlace(other);
      }
    }
  }

  /**
   * Returns whether an adopted acquisition was granted, which may be news to others of its lease.
   */
  private boolean grantOrPlace(Ticket ticket) {
    if (!ticket.acquisition().isWaiting() || ticket.isDormant()) {
      return false;
    }
    if (!isHeld(ticket)) {
      if (isSeen(ticket) && !ticket.wasPlaced()) {
        acquisitions.place(ticket);
      }
      return false;
    }
    Optional<LockSession> session = sessions.find(ticket.lease().session());
    if (session.isEmpty()
        || !session.get().isSure()
        || sessions.boundLeftNanos(session.get()) <= 0) {
      return false;
    }
    ticket.holds().forEach(hold -> proof(hold).ifPresent(hold::grant));
    acquisitions.grant(ticket);
    return ticket.revival().isPresent();
  }

  /** Returns whether the mirror shows all entries of an acquisition, and can be relied on. */
  private boolean isSeen(Ticket ticket) {
    return world.mirror.isCurrent()
        && ticket.acquisition().state() == Acquisition.State.QUEUED
        && ticket.holds().stream().allMatch(Hold::isSeen);
  }

  private boolean isHeld(Ticket ticket) {
    for (Hold hold : ticket.holds()) {
      if (proof(hold).isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Returns how it is known that a lock is held, or empty if it is not. */
  private Optional<Hold.Proof> proof(Hold hold) {
    if (hold.wasGrantedBefore()) {
      return Optional.of(Hold.Proof.CLIENT);
    }
    if (isHeldByOwner(hold)) {
      return Optional.of(Hold.Proof.OWNER);
    }
    return isHeldByQueue(hold) ? Optional.of(Hold.Proof.QUEUE) : Optional.empty();
  }

  /**
   * Its owner holds the lock already, by an entry that exists: that beside which this one is
   * placed, so nobody needs to wait until it is created; or, of what was adopted, any at the same
   * place. Not with a lock delay: see {@link Admission#holders}.
   */
  private boolean isHeldByOwner(Hold hold) {
    if (hold.guard().isPresent() || !hold.isNamed() || !hold.mode().isReentrant()) {
      return false;
    }
    return holds.anyAt(
        hold,
        other ->
            other.isGranted()
                && other.ticket().isAnswered()
                && hold.beside().filter(base -> base != other).isEmpty());
  }

  private boolean isHeldByQueue(Hold hold) {
    if (!world.mirror.isCurrent() || !hold.isNamed() || !hold.ticket().isAnswered()) {
      return false;
    }
    Optional<Entry> entry = hold.entryIn(world.mirror);
    return entry.isPresent() && entry.get().holds() && !entry.get().isReleased();
  }
}
