package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** One session in the simulated ZooKeeper: what it owns, and how long it lives. */
final class SimSession {

  final Set<SimNode> nodes = new LinkedHashSet<>();
  final Map<LeaseId, SessionEvent.AdoptedLease> leases = new LinkedHashMap<>();
  boolean alive = true;
  private boolean watched;
  private long touchedAt;

  /** The leader hears of it: by its clock it lives for one timeout from now. */
  void touch(Sim sim) {
    touchedAt = sim.now;
    if (!watched) {
      watched = true;
      expire(sim);
    }
  }

  private void expire(Sim sim) {
    long expiry = touchedAt + SimConnection.TIMEOUT - sim.leaderIsFast;
    if (sim.now >= expiry) {
      sim.zooKeeper.end(this);
    } else if (alive) {
      sim.at(expiry, () -> expire(sim));
    }
  }

  boolean isEmpty() {
    return nodes.isEmpty() && leases.isEmpty();
  }
}
