package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.Mirror;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
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
  private final Map<Lease, Map<String, Acquisition>> hidden = new LinkedHashMap<>();
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
      coordinator.kernel.core.acquisitions.values().forEach(SimSaboteur::wakeIfUnheard);
    }
    if (sim.has(Sim.Mutant.ONE_SETTLED)) {
      hideOthers(event);
    }
    if (event instanceof ClientEvent.Release release) {
      acquisition(release).ifPresent(this::beforeRelease);
    } else if (event instanceof StoreEvent.EntryVanished gone) {
      gone.entry().id().ifPresent(id -> beforeVanished(gone.lock(), id));
    }
  }

  private Mirror mirror() {
    return coordinator.kernel.core.mirror;
  }

  private static void wakeIfUnheard(Acquisition acquisition) {
    if (acquisition.hasOwnStream() && acquisition.target().isEmpty() && !acquisition.isDormant()) {
      acquisition.adoptedState().ifPresent(AdoptedState::wake);
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
    for (Lease lease : coordinator.kernel.core.leases.values()) {
      hidden.put(lease, new LinkedHashMap<>(lease.acquisitions()));
      lease
          .acquisitions()
          .values()
          .removeIf(
              acquisition ->
                  acquisition.adoptedState().isPresent()
                      && acquisition.state().isWaiting()
                      && !acquisition.command().requestId().equals(requestId));
    }
  }

  private void showOthers() {
    hidden.forEach(
        (lease, before) -> {
          Map<String, Acquisition> added = new LinkedHashMap<>(lease.acquisitions());
          before.values().removeIf(acquisition -> !isThere(acquisition));
          lease.acquisitions().clear();
          lease.acquisitions().putAll(before);
          lease.acquisitions().putAll(added);
        });
    hidden.clear();
  }

  private boolean isThere(Acquisition acquisition) {
    return coordinator.kernel.core.acquisitions.get(acquisition.id()) == acquisition;
  }

  private void beforeVanished(LockName lock, UUID id) {
    if (sim.has(Sim.Mutant.GUARD_CLEARED_BY_PEER)) {
      sim.zooKeeper.markers(lock).stream()
          .filter(marker -> marker instanceof MarkerName.Guard guard && guard.id().equals(id))
          .toList()
          .forEach(guard -> sim.zooKeeper.unmark(lock, guard));
    }
  }

  private Optional<Acquisition> acquisition(ClientEvent.Release release) {
    return Optional.ofNullable(coordinator.kernel.core.leases.get(release.lease()))
        .map(lease -> lease.acquisitions().get(release.requestId()));
  }

  private void beforeRelease(Acquisition acquisition) {
    if (sim.has(Sim.Mutant.HAND_OFF_PAST_FOLLOWER)) {
      acquisition.holds().forEach(hold -> hold.followers().forEach(Hold::leavePlace));
    }
    if (sim.has(Sim.Mutant.REENTRANT_RELEASE_DELETES) && acquisition.state().isHeld()) {
      for (Hold hold : acquisition.holds()) {
        Lease.OwnedLock owned = new Lease.OwnedLock(acquisition.command().owner(), hold.lock());
        acquisition.lease().holds().getOrDefault(owned, List.of()).stream()
            .filter(other -> other != hold && other.isLevelOf(hold))
            .forEach(other -> deleteLevel(acquisition, other));
      }
    }
  }

  private void deleteLevel(Acquisition acquisition, Hold hold) {
    coordinator
        .on(acquisition.lease().session())
        .write(
            () -> {
              sim.zooKeeper.delete(List.of(hold.ref()));
              return Optional.empty();
            },
            Optional::empty);
  }

  Event changed(Event event) {
    if (event instanceof ClientRequest asked) {
      return new ClientRequest(asked.by(), (ClientEvent) changed(asked.request()));
    }
    if (event instanceof ClientEvent.Acquire acquire) {
      return new ClientEvent.Acquire(
          acquire.stream(),
          acquire.id(),
          acquire.lease(),
          SimWishes.changed(
              acquire.command(),
              sim.has(Sim.Mutant.CYCLES_NOT_SEARCHED),
              sim.has(Sim.Mutant.CONTENTION_UNTOLD)),
          acquire.session());
    }
    return event;
  }

  Effect changed(Effect effect) {
    if (sim.has(Sim.Mutant.LOST_TAKES_ALL) && effect instanceof StoreEffect.DeleteEntries delete) {
      return withAllOfOwner(delete);
    }
    return sim.has(Sim.Mutant.TIMEOUT_CALLED_DEADLOCK)
            && effect instanceof Effect.Tell tell
            && tell.notice() instanceof Notice.NotAcquired ending
            && ending.reason() == Notice.RefusalReason.TIMED_OUT
        ? new Effect.Tell(
            tell.stream(),
            tell.requestId(),
            tell.epoch(),
            tell.sequence(),
            new Notice.NotAcquired(Notice.RefusalReason.WOULD_DEADLOCK, ""))
        : effect;
  }

  /** Tells waiters their endings when the deletion of their entries begins. */
  List<Effect> hastened(List<Effect> effects) {
    if (!sim.has(Sim.Mutant.ENDING_TOLD_EARLY)) {
      return effects;
    }
    List<Effect> hastened = new ArrayList<>();
    for (Effect effect : effects) {
      if (effect instanceof StoreEffect.DeleteEntries delete) {
        Optional.ofNullable(coordinator.kernel.core.acquisitions.get(delete.id()))
            .ifPresent(acquisition -> tellEnding(acquisition, hastened));
      }
      hastened.add(effect);
    }
    return hastened;
  }

  private static void tellEnding(Acquisition acquisition, List<Effect> effects) {
    AcquisitionState state = acquisition.state();
    if (state.ending().isEmpty() || acquisition.target().isEmpty()) {
      return;
    }
    Notice ending = state.ending().get();
    long sequence = acquisition.tell(ending);
    Lease lease = acquisition.lease();
    lease.remember(Lease.Ended.of(acquisition, ending, sequence));
    acquisition.become(
        new AcquisitionState(state.state(), state.releaseOutcome(), Optional.empty()));
    effects.add(
        new Effect.Tell(
            acquisition.target().get(),
            acquisition.command().requestId(),
            lease.epoch(),
            sequence,
            ending));
  }

  private Effect withAllOfOwner(StoreEffect.DeleteEntries delete) {
    Acquisition lost = coordinator.kernel.core.acquisitions.get(delete.id());
    if (lost == null || lost.isGivenBack() || lost.command().owner().isEmpty()) {
      return delete;
    }
    List<EntryRef> all = new ArrayList<>(delete.entries());
    lost.lease().acquisitions().values().stream()
        .filter(other -> other != lost && other.state().isLive())
        .filter(other -> other.command().owner().equals(lost.command().owner()))
        .flatMap(other -> other.holds().stream())
        .filter(hold -> hold.isNamed() && lost.holds().stream().anyMatch(hold::isAtPlaceOf))
        .forEach(hold -> all.add(hold.ref()));
    return new StoreEffect.DeleteEntries(delete.session(), delete.id(), all);
  }

  void afterStep() {
    disbelieved.forEach((node, czxid) -> mirror().suppress(node.lock(), node.name(), czxid));
    disbelieved = Map.of();
    showOthers();
    if (sim.has(Sim.Mutant.GRANTED_IN_PART)) {
      coordinator.kernel.core.acquisitions.values().stream()
          .filter(acquisition -> acquisition.state().isWaiting() && acquisition.holds().size() > 1)
          .forEach(this::completeIfInPart);
    }
  }

  /** Calls every entry of a request a holder's as soon as one is. */
  private void completeIfInPart(Acquisition acquisition) {
    List<Entry> entries =
        acquisition.holds().stream()
            .flatMap(
                hold ->
                    coordinator.kernel.core.mirror.find(hold.lock(), hold.name().text()).stream())
            .toList();
    if (entries.stream().anyMatch(Entry::holds)) {
      entries.forEach(entry -> entry.hold(sim.now));
    }
  }
}
