package io.lockkeeper.server.core.simulation;

import static io.lockkeeper.server.core.simulation.SimRules.check;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.Hold;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whoever holds at a coordinator, listens, and wants to know whether somebody waits, was told as
 * soon as the coordinator can see it; and nobody is told of somebody who is not there.
 */
final class SimContention {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final Set<String> wanted = new HashSet<>();
  private final Set<String> told = new HashSet<>();
  private final Map<String, Long> grants = new HashMap<>();

  SimContention(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
  }

  void beforeStep(Event event) {
    if (event instanceof ClientEvent.Acquire acquire && acquire.command().notifyContention()) {
      wanted.add(acquire.command().requestId());
    } else if (event instanceof SessionEvent.SessionAdopted adopted) {
      adopted.leases().forEach(lease -> forget(lease.lease()));
    }
  }

  /** What comes from another coordinator says nothing of what its client wants to know. */
  private void forget(LeaseId lease) {
    wanted.removeIf(id -> sim.requests.get(id).lease.equals(lease));
    grants.keySet().removeIf(id -> sim.requests.get(id).lease.equals(lease));
  }

  void afterStep(List<Effect> effects) {
    for (Effect effect : effects) {
      if (effect instanceof Effect.Tell tell) {
        onTell(tell);
      }
    }
    if (coordinator.kernel.mirrorIsCurrent()) {
      coordinator.kernel.core.acquisitions.values().forEach(this::checkTold);
    }
  }

  private void onTell(Effect.Tell tell) {
    String id = tell.requestId();
    if (tell.notice() instanceof Notice.Granted granted) {
      // What is told once more is as old as it was, and may not have been heard.
      boolean again = Optional.of(tell.sequence()).equals(Optional.ofNullable(grants.get(id)));
      grants.put(id, tell.sequence());
      told.remove(id);
      if (granted.isContended() && !again) {
        told.add(id);
      }
    } else if (tell.notice() instanceof Notice.Contended contended) {
      told.add(id);
      check(
          contended.frozen().isPresent()
              || isWaitedFor(contended.lock())
              || isAskedFor(contended.lock()),
          () -> "told of somebody who does not wait: " + tell);
    }
  }

  private boolean isWaitedFor(LockName lock) {
    return coordinator.kernel.core.mirror.queue(lock).stream()
        .flatMap(queue -> queue.entries().stream())
        .anyMatch(entry -> !entry.holds());
  }

  /** Who has asked here is told of while his entry is on its way. */
  private boolean isAskedFor(LockName lock) {
    return coordinator.kernel.core.acquisitions.values().stream()
        .anyMatch(
            acquisition -> acquisition.state().isWaiting() && acquisition.hold(lock).isPresent());
  }

  private void checkTold(Acquisition acquisition) {
    String id = acquisition.command().requestId();
    if (wanted.contains(id)
        && acquisition.state().isHeld()
        && acquisition.target().isPresent()
        && !told.contains(id)) {
      check(
          acquisition.holds().stream().noneMatch(this::isWaitedFor),
          () -> "nobody has told " + acquisition.command() + " that somebody waits");
    }
  }

  private boolean isWaitedFor(Hold hold) {
    Optional<Entry> held = hold.entryIn(coordinator.kernel.core.mirror).filter(Entry::holds);
    return held.isPresent()
        && coordinator.kernel.core.mirror.queue(hold.lock()).map(LockQueue::entries).stream()
            .flatMap(entries -> entries.stream())
            .anyMatch(
                entry ->
                    !entry.holds()
                        && !entry.isReleased()
                        && Entry.ORDER.compare(held.get(), entry) < 0);
  }
}
