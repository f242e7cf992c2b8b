package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What contenders say of themselves while they are in a queue: changed by their clients, written
 * into their entries, and brought to those who wait and watch.
 */
final class Descriptions {

  /** How many waiters of one lock are told unasked; the others may ask. */
  static final int MAX_TOLD = 1_000;

  private static final long TOLD_EVERY_NANOS = Duration.ofSeconds(1).toNanos();

  private final World world;
  private final Views views;
  private final Acquisitions acquisitions;
  private final Leases leases;
  private final Changes changes;
  private final Amendments amendments;
  private final Dormancy dormancy;
  private final Set<LockName> quiet = new HashSet<>();
  private final Set<LockName> changedMeanwhile = new HashSet<>();

  Descriptions(
      World world,
      Views views,
      Acquisitions acquisitions,
      Leases leases,
      Changes changes,
      Amendments amendments,
      Dormancy dormancy) {
    this.dormancy = dormancy;
    this.world = world;
    this.views = views;
    this.acquisitions = acquisitions;
    this.leases = leases;
    this.changes = changes;
    this.amendments = amendments;
  }

  void updateMetadata(ClientEvent.UpdateMetadata event) {
    change(
        event.call(),
        event.lease(),
        event.requestId(),
        false,
        ticket -> ticket.description().metadata(event.metadata()));
  }

  void answerRelease(ClientEvent.AnswerRelease event) {
    Duration needs = event.needs();
    change(
        event.call(),
        event.lease(),
        event.requestId(),
        true,
        ticket -> ticket.description().needs(needs, world.now));
  }

  private void change(
      CallId call,
      LeaseId leaseId,
      String requestId,
      boolean holdersOnly,
      Consumer<Ticket> change) {
    Optional<Lease> lease = leases.findOpen(leaseId);
    if (lease.isEmpty()) {
      world.fail(call, Failure.Kind.UNKNOWN_LEASE, leases.unknown(leaseId));
      return;
    }
    Optional<Ticket> ticket = dormancy.find(lease.get(), requestId);
    if (ticket.isEmpty() && lease.get().ending(requestId).isEmpty()) {
      world.fail(call, Failure.Kind.UNKNOWN_ACQUISITION, Releases.unknown(requestId));
      return;
    }
    Optional<Failure> obstacle = obstacle(ticket, holdersOnly);
    if (obstacle.isPresent()) {
      world.reply(call, new Answer.Failed(obstacle.get()));
    } else {
      ticket.ifPresent(t -> write(call, t, change));
    }
  }

  private static Optional<Failure> obstacle(Optional<Ticket> ticket, boolean holdersOnly) {
    Optional<Acquisition> acquisition = ticket.map(Ticket::acquisition);
    if (acquisition.filter(a -> a.isHeld() || a.isWaiting()).isEmpty()) {
      return Optional.of(new Failure(Failure.Kind.ENDED, "the acquisition has ended"));
    }
    if (holdersOnly && !acquisition.get().isHeld()) {
      return Optional.of(new Failure(Failure.Kind.NOT_HELD, "the acquisition holds nothing yet"));
    }
    return !ticket.get().isAnswered()
        ? Optional.of(
            new Failure(Failure.Kind.UNAVAILABLE, "the request is being queued: send it again"))
        : Optional.empty();
  }

  private void write(CallId call, Ticket ticket, Consumer<Ticket> change) {
    change.accept(ticket);
    ticket.description().recount(world.now);
    Map<NodeKey, Amendment> described = new LinkedHashMap<>();
    for (Hold hold : ticket.holds()) {
      described.put(hold.key(), hold.description());
    }
    amendments.send(described, outcome -> answer(call, ticket, outcome));
  }

  private void answer(CallId call, Ticket ticket, Amendment.Outcome outcome) {
    switch (outcome) {
      case DONE -> {
        world.reply(call, new Answer.Described());
        ticket
            .holds()
            .forEach(h -> h.entryIn(world.mirror).ifPresent(entry -> announce(h.lock(), entry)));
      }
      case GONE -> world.fail(call, Failure.Kind.ENDED, "the acquisition has ended");
      case FAILED ->
          world.fail(
              call,
              Failure.Kind.UNAVAILABLE,
              "ZooKeeper did not confirm the change: it may be made, send it again");
    }
  }

  /** A contender says something else of itself. */
  void announce(LockName lock, Entry entry) {
    changes.publish(lock, LockChange.Cause.METADATA, Optional.of(entry));
    if (entry.holds()) {
      tellWaiters(lock);
    }
  }

  /** Tells those who wait, once a second at most. */
  private void tellWaiters(LockName lock) {
    if (!quiet.add(lock)) {
      changedMeanwhile.add(lock);
      return;
    }
    world.timers.at(world.now + TOLD_EVERY_NANOS, () -> quietOver(lock));
    world.mirror.queue(lock).stream()
        .flatMap(queue -> queue.waiters(MAX_TOLD).stream())
        .flatMap(entry -> Ticket.of(entry).stream())
        .filter(ticket -> ticket.acquisition().isWaiting() && ticket.wasPlaced())
        .toList()
        .forEach(ticket -> acquisitions.tell(ticket, new Notice.Position(views.places(ticket))));
  }

  private void quietOver(LockName lock) {
    quiet.remove(lock);
    if (changedMeanwhile.remove(lock)) {
      tellWaiters(lock);
    }
  }
}
