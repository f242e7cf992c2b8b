package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;
import java.util.Optional;

/**
 * Takes the claim of an orphaned session, over the mirror's connection: read, set if nobody was
 * faster, read again if that is in doubt. Then attaches to the session and takes stock of it.
 */
final class SimAdoption {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final SessionKey key;
  private final SimClaims.Claim claim;
  private final SimConnection connection;
  private boolean certain;
  private Optional<Promises> promises = Optional.empty();
  private List<SessionEvent.AdoptedLease> leases = List.of();
  private List<SessionEvent.AdoptedEntry> entries = List.of();

  SimAdoption(Sim sim, SimCoordinator coordinator, SessionKey key, SimClaims.Claim claim) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.key = key;
    this.claim = claim;
    this.connection = new SimConnection(sim, coordinator, key, claim.session);
  }

  SimConnection connection() {
    return connection;
  }

  void start() {
    sim.after(sim.delay(100), () -> coordinator.take(this::read));
  }

  private void read() {
    if (!coordinator.feed.isUp()) {
      sim.after(100 * Sim.MILLI + sim.delay(500), () -> coordinator.take(this::read));
    } else if (sim.claims.find(claim.name).isEmpty() || !coordinator.peers.isOrphan(claim)) {
      connection.end(true);
    } else {
      int version = claim.version;
      certain =
          (claim.alone && coordinator.peers.isDeadForCertain(claim.owner))
              || sim.has(Sim.Mutant.ABSENT_TAKEN_FOR_DEAD);
      sim.after(sim.delay(200), () -> set(version));
    }
  }

  private void set(int version) {
    boolean arrives = coordinator.feed.isUp() || sim.chance(50);
    if (arrives) {
      sim.zooKeeper.barrier();
      sim.claims.take(claim, version, coordinator);
    }
    boolean inDoubt = !coordinator.feed.isUp() || sim.chance(5);
    sim.after(
        sim.delay(200) + (inDoubt ? sim.delay(3_000) : 0),
        () -> coordinator.take(() -> onSet(version + 1)));
  }

  private void onSet(int version) {
    boolean won = claim.owner == coordinator && claim.version == version;
    if (!won || sim.claims.find(claim.name).isEmpty()) {
      connection.end(true);
    } else {
      promises = sim.has(Sim.Mutant.TIME_LEFT_FORGOTTEN) ? Optional.empty() : claim.left;
      long early = SimConnection.TIMEOUT - Sim.SECOND;
      long takenAt = sim.now - (sim.has(Sim.Mutant.GRACE_TOO_SHORT) ? early : 0);
      connection.adopt(
          claim, this::takeStock, (provenAt, attachedAt) -> adopted(provenAt, attachedAt, takenAt));
    }
  }

  private Optional<StoreEvent> takeStock() {
    sim.zooKeeper.barrier();
    leases = List.copyOf(claim.session.leases.values());
    entries = claim.session.nodes.stream().map(this::adopted).toList();
    return Optional.empty();
  }

  private SessionEvent.AdoptedEntry adopted(SimNode node) {
    return new SessionEvent.AdoptedEntry(node.lock, coordinator.feed.seen(node), node.data());
  }

  private SessionEvent adopted(long provenAt, long attachedAt, long takenAt) {
    return new SessionEvent.SessionAdopted(
        key,
        claim.version + 1L,
        SimConnection.TIMEOUT,
        provenAt,
        attachedAt,
        takenAt,
        certain,
        promises,
        leases,
        entries);
  }
}
