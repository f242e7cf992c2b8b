package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Plants mistakes in a coordinator that its core does not make: changes what goes in and what comes
 * out, and its state in between.
 */
final class SimSaboteur {

  private final Sim sim;
  private final SimCoordinator coordinator;

  SimSaboteur(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
  }

  void beforeStep(Event event) {
    if (event instanceof ClientEvent.Release release) {
      ticket(release).ifPresent(this::beforeRelease);
    } else if (event instanceof StoreEvent.EntryVanished gone) {
      gone.entry().id().ifPresent(id -> beforeVanished(gone.lock(), id));
    }
  }

  private void beforeVanished(LockName lock, UUID id) {
    if (sim.has(Sim.Mutant.GUARD_CLEARED_BY_PEER)) {
      sim.zooKeeper.markers(lock).stream()
          .filter(marker -> marker instanceof MarkerName.Guard guard && guard.id().equals(id))
          .toList()
          .forEach(guard -> sim.zooKeeper.unmark(lock, guard));
    }
  }

  private Optional<Ticket> ticket(ClientEvent.Release release) {
    return Optional.ofNullable(coordinator.kernel.world.leases.get(release.lease()))
        .map(lease -> lease.tickets().get(release.requestId()));
  }

  private void beforeRelease(Ticket ticket) {
    if (sim.has(Sim.Mutant.HAND_OFF_PAST_FOLLOWER)) {
      ticket.holds().forEach(hold -> hold.followers().forEach(Hold::stopFollowing));
    }
    if (sim.has(Sim.Mutant.REENTRANT_RELEASE_DELETES) && ticket.acquisition().isHeld()) {
      for (Hold hold : ticket.holds()) {
        Lease.Owned owned = new Lease.Owned(ticket.command().owner(), hold.lock());
        ticket.lease().holds().getOrDefault(owned, List.of()).stream()
            .filter(other -> other != hold && other.isLevelOf(hold))
            .forEach(other -> deleteLevel(ticket, other));
      }
    }
  }

  private void deleteLevel(Ticket ticket, Hold hold) {
    coordinator
        .on(ticket.lease().session())
        .write(
            () -> {
              sim.zooKeeper.delete(List.of(hold.ref()));
              return Optional.empty();
            },
            Optional::empty);
  }

  Event changed(Event event) {
    return sim.has(Sim.Mutant.CYCLES_NOT_SEARCHED) && event instanceof ClientEvent.Acquire acquire
        ? new ClientEvent.Acquire(
            acquire.stream(),
            acquire.id(),
            acquire.lease(),
            SimWishes.unsearched(acquire.command()),
            acquire.session())
        : event;
  }

  Effect changed(Effect effect) {
    return sim.has(Sim.Mutant.TIMEOUT_CALLED_DEADLOCK)
            && effect instanceof Effect.Tell tell
            && tell.notice() instanceof Notice.NotAcquired ending
            && ending.reason() == Notice.RefusalReason.TIMED_OUT
        ? new Effect.Tell(
            tell.stream(),
            tell.requestId(),
            tell.sequence(),
            new Notice.NotAcquired(Notice.RefusalReason.WOULD_DEADLOCK, "", List.of()))
        : effect;
  }

  void afterStep() {
    if (sim.has(Sim.Mutant.GRANTED_IN_PART)) {
      coordinator.kernel.world.tickets.values().stream()
          .filter(ticket -> ticket.acquisition().isWaiting() && ticket.holds().size() > 1)
          .forEach(this::completeIfInPart);
    }
  }

  /** Calls every entry of a request a holder's as soon as one is. */
  private void completeIfInPart(Ticket ticket) {
    List<Entry> entries =
        ticket.holds().stream()
            .flatMap(
                hold ->
                    coordinator.kernel.world.mirror.find(hold.lock(), hold.name().text()).stream())
            .toList();
    if (entries.stream().anyMatch(Entry::holds)) {
      entries.forEach(entry -> entry.hold(sim.now));
    }
  }
}
