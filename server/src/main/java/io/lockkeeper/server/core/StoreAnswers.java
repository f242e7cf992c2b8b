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

  /** Returns who waits for this answer: what was adopted meanwhile was read, and knows it. */
  private Optional<Ticket> findUnanswered(UUID id) {
    return find(id).filter(ticket -> !ticket.isAnswered());
  }

  void onCreated(StoreEvent.EntriesCreated event) {
    Optional<Ticket> found = findUnanswered(event.id());
    if (found.isPresent()) {
      Ticket ticket = found.get();
      acquisitions.created(ticket, event.entries());
      rebuilds.onCreated(ticket);
      grants.onCreated(ticket);
    }
  }

  void onRefused(StoreEvent.EntriesRefused event) {
    findUnanswered(event.id()).ifPresent(ticket -> acquisitions.refused(ticket, event.message()));
  }

  void onDeleted(StoreEvent.EntriesDeleted event) {
    Optional<Ticket> found = find(event.id());
    if (found.isEmpty()) {
      return;
    }
    Ticket ticket = found.get();
    acquisitions.apply(ticket, new AcquisitionEvent.Deleted());
    for (EntryRef ref : ticket.leaving()) {
      grants.onDeleted(ticket, ref);
    }
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
    if (Ticket.of(entry).isPresent()) {
      read.details().ask().ifPresent(ask -> givingWay.onAsked(entry, ask));
    } else {
      descriptions.announce(lock, entry);
    }
  }
}
