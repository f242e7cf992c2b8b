package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Plants mistakes in a coordinator that its core does not make: changes what goes in and what comes
 * out, and its state in between.
 */
final class SimSaboteur {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final Map<Lease, Map<String, Ticket>> hidden = new LinkedHashMap<>();
  private Map<NodeKey, Long> disbelieved = Map.of();

  SimSaboteur(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
  }

  void beforeStep(Event event) {
    if (sim.has(Sim.Mutant.LISTING_BRINGS_BACK) && event instanceof StoreEvent.QueueListed) {
      disbelieved = mirror().suppressed();
      mirror().stopSuppressing(disbelieved);
    }
    if (sim.has(Sim.Mutant.LINGER_UNCHECKED) && event instanceof TimeEvent.Tick) {
      coordinator.kernel.world.tickets.values().forEach(SimSaboteur::wakeIfUnheard);
    }
    if (sim.has(Sim.Mutant.ONE_SETTLED)) {
      hideOthers(event);
    }
    if (event instanceof ClientEvent.Release release) {
      ticket(release).ifPresent(this::beforeRelease);
    } else if (event instanceof StoreEvent.EntryVanished gone) {
      gone.entry().id().ifPresent(id -> beforeVanished(gone.lock(), id));
    }
  }

  private Mirror mirror() {
    return coordinator.kernel.world.mirror;
  }

  private static void wakeIfUnheard(Ticket ticket) {
    if (ticket.hasOwnStream() && ticket.target().isEmpty() && !ticket.isDormant()) {
      ticket.revival().ifPresent(Revival::wake);
    }
  }

  /** Lets nobody find those that wait who are not meant. */
  private void hideOthers(Event event) {
    if (event instanceof StoreEvent.EntryAppeared || event instanceof StoreEvent.EntryVanished) {
      hideAllBut("");
    } else if (event instanceof ClientEvent.Acquire acquire
        && !acquire.command().heldTokens().isEmpty()) {
      hideAllBut(acquire.command().requestId());
    }
  }

  private void hideAllBut(String requestId) {
    for (Lease lease : coordinator.kernel.world.leases.values()) {
      hidden.put(lease, new LinkedHashMap<>(lease.tickets()));
      lease
          .tickets()
          .values()
          .removeIf(
              ticket ->
                  ticket.revival().isPresent()
                      && ticket.acquisition().isWaiting()
                      && !ticket.command().requestId().equals(requestId));
    }
  }

  private void showOthers() {
    hidden.forEach(
        (lease, before) -> {
          Map<String, Ticket> added = new LinkedHashMap<>(lease.tickets());
          before.values().removeIf(ticket -> !isThere(ticket));
          lease.tickets().clear();
          lease.tickets().putAll(before);
          lease.tickets().putAll(added);
        });
    hidden.clear();
  }

  private boolean isThere(Ticket ticket) {
    return coordinator.kernel.world.tickets.get(ticket.id()) == ticket;
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
      ticket.holds().forEach(hold -> hold.followers().forEach(Hold::leavePlace));
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
    if (sim.has(Sim.Mutant.LOST_TAKES_ALL) && effect instanceof Effect.DeleteEntries delete) {
      return withAllOfOwner(delete);
    }
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

  private Effect withAllOfOwner(Effect.DeleteEntries delete) {
    Ticket lost = coordinator.kernel.world.tickets.get(delete.id());
    if (lost == null || lost.isGivenBack() || lost.command().owner().isEmpty()) {
      return delete;
    }
    List<EntryRef> all = new ArrayList<>(delete.entries());
    lost.lease().tickets().values().stream()
        .filter(other -> other != lost && other.acquisition().isLive())
        .filter(other -> other.command().owner().equals(lost.command().owner()))
        .flatMap(other -> other.holds().stream())
        .filter(hold -> hold.isNamed() && lost.holds().stream().anyMatch(hold::isAtPlaceOf))
        .forEach(hold -> all.add(hold.ref()));
    return new Effect.DeleteEntries(delete.session(), delete.id(), all);
  }

  void afterStep() {
    disbelieved.forEach((node, czxid) -> mirror().suppress(node.lock(), node.name(), czxid));
    disbelieved = Map.of();
    showOthers();
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
