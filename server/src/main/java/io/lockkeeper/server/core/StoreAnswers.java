package io.lockkeeper.server.core;

import java.util.Optional;
import java.util.UUID;

/** What ZooKeeper's answers to our own writes mean for the acquisitions that they were made for. */
final class StoreAnswers {

  private final World world;
  private final Acquisitions acquisitions;
  private final Rebuilds rebuilds;
  private final Grants grants;

  StoreAnswers(World world, Acquisitions acquisitions, Rebuilds rebuilds, Grants grants) {
    this.world = world;
    this.acquisitions = acquisitions;
    this.rebuilds = rebuilds;
    this.grants = grants;
  }

  private Optional<Ticket> find(UUID id) {
    return Optional.ofNullable(world.tickets.get(id));
  }

  void onCreated(StoreEvent.EntriesCreated event) {
    find(event.id())
        .ifPresent(
            ticket -> {
              ticket.created(event.entries());
              acquisitions.apply(ticket, new AcquisitionEvent.Created());
              rebuilds.onCreated(ticket);
              grants.settle(ticket);
            });
  }

  void onRefused(StoreEvent.EntriesRefused event) {
    find(event.id()).ifPresent(ticket -> acquisitions.refused(ticket, event.message()));
  }

  void onDeleted(StoreEvent.EntriesDeleted event) {
    find(event.id())
        .ifPresent(
            ticket -> {
              acquisitions.apply(ticket, new AcquisitionEvent.Deleted());
              // The answer to our own deletion may come before the mirror's event; it is as
              // certain. But what was placed beside the entry must be seen first.
              ticket.leaving().stream()
                  .filter(ref -> !isFollowed(ticket, ref))
                  .forEach(this::onDeleted);
            });
  }

  /** Returns whether somebody is to be placed beside an entry and the mirror does not show it. */
  private static boolean isFollowed(Ticket ticket, EntryRef entry) {
    return ticket
        .hold(entry.lock(), entry.entry())
        .filter(hold -> !hold.followers().isEmpty())
        .isPresent();
  }

  private void onDeleted(EntryRef ref) {
    ref.guard()
        .flatMap(MarkerName::parse)
        .ifPresent(guard -> grants.onMarkerVanished(ref.lock(), guard, 0));
    grants.onVanished(ref.lock(), ref.entry(), 0);
  }
}
