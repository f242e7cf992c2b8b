package io.lockkeeper.server.core;

import java.util.Optional;
import java.util.UUID;

/** What ZooKeeper's answers to our own writes and reads mean for the acquisitions concerned. */
final class StoreAnswers {

  private final World world;
  private final Acquisitions acquisitions;
  private final Rebuilds rebuilds;
  private final Grants grants;
  private final Readings readings;
  private final GivingWay givingWay;
  private final Descriptions descriptions;

  StoreAnswers(
      World world,
      Acquisitions acquisitions,
      Rebuilds rebuilds,
      Grants grants,
      Readings readings,
      GivingWay givingWay,
      Descriptions descriptions) {
    this.readings = readings;
    this.givingWay = givingWay;
    this.descriptions = descriptions;
    this.world = world;
    this.acquisitions = acquisitions;
    this.rebuilds = rebuilds;
    this.grants = grants;
  }

  private Optional<Ticket> find(UUID id) {
    return Optional.ofNullable(world.tickets.get(id));
  }

  void onCreated(StoreEvent.EntriesCreated event) {
    Optional<Ticket> found = find(event.id());
    if (found.isPresent()) {
      Ticket ticket = found.get();
      ticket.created(event.entries());
      acquisitions.apply(ticket, new AcquisitionEvent.Created());
      rebuilds.onCreated(ticket);
      grants.settle(ticket);
    }
  }

  void onRefused(StoreEvent.EntriesRefused event) {
    find(event.id()).ifPresent(ticket -> acquisitions.refused(ticket, event.message()));
  }

  void onDeleted(StoreEvent.EntriesDeleted event) {
    Optional<Ticket> found = find(event.id());
    if (found.isEmpty()) {
      return;
    }
    Ticket ticket = found.get();
    acquisitions.apply(ticket, new AcquisitionEvent.Deleted());
    // The answer to our own deletion may come before the mirror's event; it is as certain. But what
    // was placed beside the entry must be seen first.
    for (EntryRef ref : ticket.leaving()) {
      if (!isFollowed(ticket, ref)) {
        onDeleted(ref);
      }
    }
  }

  /** Returns whether somebody is to be placed beside an entry and the mirror does not show it. */
  private static boolean isFollowed(Ticket ticket, EntryRef entry) {
    Optional<Hold> hold = ticket.hold(entry.lock(), entry.entry());
    return hold.isPresent() && !hold.get().followers().isEmpty();
  }

  private void onDeleted(EntryRef ref) {
    ref.guard()
        .flatMap(MarkerName::parse)
        .ifPresent(guard -> grants.onMarkerVanished(ref.lock(), guard, 0));
    grants.onVanished(ref.lock(), ref.entry(), 0);
  }

  void onRead(StoreEvent.DetailsRead event) {
    Optional<Entry> entry = world.mirror.find(event.lock(), event.entry());
    boolean changed = entry.filter(Entry::takeChanged).isPresent();
    entry.ifPresent(e -> event.read().ifPresent(read -> e.learn(read, world.now)));
    if (changed) {
      entry.ifPresent(e -> event.read().ifPresent(read -> onChanged(event.lock(), e, read)));
    }
    readings.onRead(event);
  }

  private void onChanged(LockName lock, Entry entry, StoreEvent.ReadEntry read) {
    if (entry.ticket().isPresent()) {
      read.details().ask().ifPresent(ask -> givingWay.onAsked(entry, ask));
    } else {
      descriptions.announce(lock, entry);
    }
  }
}
