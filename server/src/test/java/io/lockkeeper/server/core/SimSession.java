package io.lockkeeper.server.core;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** One session in the simulated ZooKeeper: what it owns, and how long it lives. */
final class SimSession {

  final Set<SimNode> nodes = new LinkedHashSet<>();
  final Map<LeaseId, SessionEvent.AdoptedLease> leases = new LinkedHashMap<>();
  boolean alive = true;
  private int attached;
  private long touches;

  /** Somebody keeps it alive, perhaps beside somebody else who does not know. */
  void attach() {
    attached++;
    touches++;
  }

  /** Whoever kept it alive is not heard any more; by ZooKeeper's clock it expires from now on. */
  void detach(Sim sim) {
    attached--;
    touches++;
    if (attached == 0) {
      long last = touches;
      sim.after(
          SimConnection.TIMEOUT,
          () -> {
            if (touches == last) {
              sim.zooKeeper.end(this);
            }
          });
    }
  }

  boolean isEmpty() {
    return nodes.isEmpty() && leases.isEmpty();
  }
}
