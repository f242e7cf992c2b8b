package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.queue.Mirror;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.Hold;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What a coordinator knows already it does not forget, nor leave without its consequences. */
final class SimKnown {

  private final Sim sim;

  /** The nodes whose deletion was answered, and that are not in the mirror since. */
  private final Map<SimCoordinator, Set<NodeKey>> gone = new HashMap<>();

  private List<EntryRef> leaving = List.of();

  SimKnown(Sim sim) {
    this.sim = sim;
  }

  void beforeStep(SimCoordinator coordinator, Event event) {
    leaving =
        event instanceof StoreEvent.EntriesDeleted deleted
            ? Optional.ofNullable(coordinator.kernel.core.acquisitions.get(deleted.id()))
                .map(Acquisition::leaving)
                .orElse(List.of())
                .stream()
                .filter(ref -> isShown(coordinator, ref))
                .toList()
            : List.of();
  }

  void afterStep(SimCoordinator coordinator, Event event) {
    leaving.forEach(ref -> remember(coordinator, ref));
    if (event instanceof StoreEvent.QueueListed listed) {
      checkGone(coordinator, listed.lock());
    } else if (event instanceof StoreEvent.EntryAppeared appeared) {
      checkGone(coordinator, appeared.lock());
    }
    coordinator
        .kernel
        .core
        .acquisitions
        .values()
        .forEach(acquisition -> checkSettled(coordinator, acquisition));
  }

  /** Where the mirror goes on showing it, something else was to be seen first. */
  private void remember(SimCoordinator coordinator, EntryRef ref) {
    if (!isShown(coordinator, ref)) {
      Set<NodeKey> nodes = gone.computeIfAbsent(coordinator, c -> new HashSet<>());
      nodes.add(new NodeKey(ref.lock(), ref.entry()));
      ref.guard().ifPresent(guard -> nodes.add(new NodeKey(ref.lock(), guard)));
    }
  }

  private static boolean isShown(SimCoordinator coordinator, EntryRef ref) {
    return coordinator.kernel.core.mirror.find(ref.lock(), ref.entry()).isPresent();
  }

  /** An older listing, or the event of the creation, does not bring back what is gone. */
  private void checkGone(SimCoordinator coordinator, LockName lock) {
    Set<NodeKey> nodes = gone.getOrDefault(coordinator, Set.of());
    if (nodes.isEmpty()) {
      return;
    }
    Mirror mirror = coordinator.kernel.core.mirror;
    mirror.queue(lock).stream()
        .flatMap(queue -> queue.entries().stream())
        .forEach(entry -> checkGone(nodes, new NodeKey(lock, entry.name().text())));
    mirror.guards(lock).forEach(guard -> checkGone(nodes, new NodeKey(lock, guard.text())));
  }

  private static void checkGone(Set<NodeKey> nodes, NodeKey node) {
    SimRules.check(
        !nodes.contains(node), () -> "shown again after its deletion was answered: " + node);
  }

  /** Nobody goes on waiting for what its owner is known to hold at the same place. */
  private void checkSettled(SimCoordinator coordinator, Acquisition acquisition) {
    boolean waits = acquisition.state().isWaiting() && !acquisition.isDormant();
    if (waits
        && !coordinator.kernel.core.leaving
        && acquisition.holds().stream().allMatch(SimKnown::isOwners)) {
      SimRules.check(
          !isSure(coordinator, acquisition.lease().session()),
          () -> "waits for what its owner holds: " + acquisition.command().requestId());
    }
  }

  private static boolean isOwners(Hold hold) {
    return hold.wasGrantedBefore()
        || (hold.isNamed()
            && hold.guard().isEmpty()
            && hold.mode().isReentrant()
            && hold.acquisition().lease().acquisitions().values().stream()
                .filter(other -> isOfOwner(other, hold.acquisition()) && other.isAnswered())
                .flatMap(other -> other.holds().stream())
                .filter(other -> hold.beside().filter(base -> base != other).isEmpty())
                .anyMatch(other -> other.isGranted() && other.isAtPlaceOf(hold)));
  }

  private static boolean isOfOwner(Acquisition one, Acquisition other) {
    String owner = one.command().owner();
    return one != other && !owner.isEmpty() && owner.equals(other.command().owner());
  }

  /** Returns whether grants may be made on a session. */
  private boolean isSure(SimCoordinator coordinator, SessionKey key) {
    return coordinator.kernel.counts(sim.now).sessions().stream()
        .anyMatch(s -> s.key().equals(key) && s.sure() && s.provenAlive());
  }
}
