package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Turns what the mirror sees into grants. */
final class Grants {

  private final World world;
  private final Sessions sessions;
  private final Views views;
  private final Barriers barriers;
  private final Acquisitions acquisitions;

  Grants(
      World world, Sessions sessions, Views views, Barriers barriers, Acquisitions acquisitions) {
    this.world = world;
    this.sessions = sessions;
    this.views = views;
    this.barriers = barriers;
    this.acquisitions = acquisitions;
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
              entry.ticket().ifPresent(this::settle);
            });
  }

  private void bind(LockName lock, Entry entry) {
    entry
        .name()
        .id()
        .flatMap(id -> Optional.ofNullable(world.tickets.get(id)))
        .ifPresent(
            ticket -> {
              entry.bind(ticket);
              ticket.seen().add(lock);
            });
  }

  /** An entry is gone: seen by the mirror, or known from the answer to our own deletion. */
  void onVanished(LockName lock, String name, long zxid) {
    world.mirror.vanished(lock, name, zxid).ifPresent(entry -> departed(lock, entry));
  }

  private void departed(LockName lock, Entry entry) {
    Departure departure = entry.ticket().map(Ticket::departure).orElse(Departure.UNKNOWN);
    entry
        .ticket()
        .filter(Grants::isLive)
        .ifPresent(ticket -> acquisitions.apply(ticket, new AcquisitionEvent.Removed()));
    if (entry.isReleased()) {
      advance(lock);
      return;
    }
    boolean wasHeld = entry.ticket().map(Ticket::wasGranted).orElse(entry.holds());
    if (wasHeld) {
      world.mirror.noteDeparture(lock, departure);
    }
    advance(lock, () -> publish(lock, causeOf(departure), entry));
  }

  private static LockChange.Cause causeOf(Departure departure) {
    return switch (departure) {
      case RELEASED -> LockChange.Cause.RELEASED;
      case WITHDRAWN -> LockChange.Cause.WITHDRAWN;
      case LEASE_ENDED -> LockChange.Cause.LEASE_ENDED;
      case SESSION_LOST, UNKNOWN -> LockChange.Cause.REMOVED;
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
    for (StoreEvent.CreatedEntry created : ticket.entries()) {
      world
          .mirror
          .find(created.lock(), created.name().text())
          .ifPresent(
              entry -> {
                entry.markReleased();
                world.mirror.noteDeparture(created.lock(), Departure.RELEASED);
                advance(
                    created.lock(),
                    () -> publish(created.lock(), LockChange.Cause.RELEASED, entry));
              });
    }
  }

  private void advance(LockName lock) {
    advance(lock, () -> {});
  }

  /** Applies the admission rule to one queue, unless the mirror may be wrong. */
  private void advance(LockName lock, Runnable afterAdmission) {
    if (!world.mirror.isCurrent()) {
      return;
    }
    List<Entry> admitted =
        world.mirror.queue(lock).map(queue -> queue.admit(world.now)).orElse(List.of());
    afterAdmission.run();
    for (Entry entry : admitted) {
      // A waiter that has given up and is on its way out is granted nothing.
      if (entry.ticket().map(Grants::isLive).orElse(true)) {
        publish(lock, LockChange.Cause.GRANTED, entry);
      }
      entry.ticket().ifPresent(this::settle);
    }
  }

  private static boolean isLive(Ticket ticket) {
    return ticket.acquisition().isWaiting() || ticket.acquisition().isHeld();
  }

  /** Grants the acquisition if everything allows it, and otherwise tells it that it waits. */
  void settle(Ticket ticket) {
    if (ticket.acquisition().state() != Acquisition.State.QUEUED
        || !world.mirror.isCurrent()
        || ticket.seen().size() < ticket.entries().size()) {
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

  private boolean holdsAll(Ticket ticket) {
    return ticket.entries().stream()
        .allMatch(
            created ->
                world
                    .mirror
                    .find(created.lock(), created.name().text())
                    .filter(Entry::holds)
                    .isPresent());
  }

  void onStale() {
    world.mirror.markStale();
  }

  void onRebuildStarted(Set<LockName> existing) {
    world.mirror.beginRebuild(existing);
  }

  void onListed(StoreEvent.QueueListed event) {
    world.mirror.listed(event.lock(), event.entries(), world.now);
    world
        .mirror
        .queue(event.lock())
        .ifPresent(queue -> queue.entries().forEach(entry -> bind(event.lock(), entry)));
  }

  /** The mirror is whole again: what could not be decided meanwhile is decided now. */
  void onCurrent() {
    world.mirror.markCurrent();
    for (LockQueue queue : world.mirror.all()) {
      queue.admit(world.now);
    }
    world.emit(new Effect.PublishGap("the coordinator was out of touch with ZooKeeper"));
    List<Ticket> missing = new ArrayList<>();
    for (Ticket ticket : new ArrayList<>(world.tickets.values())) {
      settle(ticket);
      if (isMissing(ticket)) {
        missing.add(ticket);
      }
    }
    if (!missing.isEmpty()) {
      // Absent from a listing may also mean that the listing is older than the entry; after a
      // barrier it is not.
      barriers.pass(passed -> removeMissing(missing, passed));
    }
  }

  private void removeMissing(List<Ticket> candidates, boolean passed) {
    if (passed) {
      candidates.stream()
          .filter(this::isMissing)
          .forEach(ticket -> acquisitions.apply(ticket, new AcquisitionEvent.Removed()));
    }
  }

  private boolean isMissing(Ticket ticket) {
    Acquisition.State state = ticket.acquisition().state();
    return (state == Acquisition.State.QUEUED || state == Acquisition.State.HELD)
        && ticket.entries().stream()
            .anyMatch(e -> world.mirror.find(e.lock(), e.name().text()).isEmpty());
  }

  private void publish(LockName lock, LockChange.Cause cause, Entry entry) {
    Optional<LockQueue> queue = world.mirror.queue(lock);
    world.emit(
        new Effect.Publish(
            new LockChange(
                world.mirror.revision(),
                lock,
                cause,
                Optional.of(views.contender(entry)),
                queue.map(q -> views.contenders(q.holders())).orElse(List.of()),
                queue.map(LockQueue::waiting).orElse(0),
                1)));
  }
}
