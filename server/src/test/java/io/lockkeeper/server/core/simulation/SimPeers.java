package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.SessionEvent;
import java.util.LinkedHashSet;
import java.util.Set;

/** What one coordinator knows of the others, and how it finds what they have left behind. */
final class SimPeers {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final Set<SimCoordinator> suspects = new LinkedHashSet<>();
  private Set<SimCoordinator> members = Set.of();
  private int serving;

  SimPeers(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
  }

  void start() {
    readMembers();
    sim.after(sim.delay(1_000), this::scan);
  }

  private void scan() {
    if (!coordinator.crashed) {
      coordinator.take(
          () -> {
            readMembers();
            look();
            hearOfOthers();
          });
      sim.after(500 * Sim.MILLI + sim.delay(1_500), this::scan);
    }
  }

  /** Each says of itself whether it can renew leases. */
  private void hearOfOthers() {
    int others =
        (int)
            sim.coordinators.stream()
                .filter(other -> other != coordinator && other.isServing())
                .count();
    if (others != serving) {
      serving = others;
      coordinator.deliver(new LifecycleEvent.PeersServing(others));
    }
  }

  void onMembersChanged() {
    sim.after(
        sim.delay(300),
        () ->
            coordinator.take(
                () -> {
                  readMembers();
                  look();
                }));
  }

  private void readMembers() {
    if (coordinator.feed.isUp() && !members.equals(sim.members)) {
      members = Set.copyOf(sim.members);
    }
  }

  /** A peer does not answer: right or wrong, for a while its sessions are up for adoption. */
  void suspect(SimCoordinator peer, long nanos) {
    if (peer != coordinator && suspects.add(peer)) {
      look();
      sim.after(nanos, () -> suspects.remove(peer));
    }
  }

  private void look() {
    if (coordinator.feed.isUp()) {
      for (SimClaims.Claim claim : sim.claims.all()) {
        if (isOrphan(claim)) {
          sim.after(sim.delay(600), () -> coordinator.take(() -> tell(claim)));
        }
      }
    }
  }

  private void tell(SimClaims.Claim claim) {
    if (sim.claims.find(claim.name).isPresent() && isOrphan(claim)) {
      coordinator.deliver(new SessionEvent.OrphanFound(claim.name));
    }
  }

  boolean isOrphan(SimClaims.Claim claim) {
    return claim.owner != coordinator
        && (!members.contains(claim.owner)
            || suspects.contains(claim.owner)
            || isPredecessor(claim.owner));
  }

  /** Whoever kept its state where this coordinator keeps its own is dead for certain. */
  boolean isPredecessor(SimCoordinator other) {
    return other != coordinator && coordinator.home != 0 && other.home == coordinator.home;
  }

  /** Returns whether a coordinator is known to be dead, so that nobody relies on it any more. */
  boolean isDeadForCertain(SimCoordinator other) {
    return isPredecessor(other) && sim.members.contains(other);
  }
}
