package io.lockkeeper.server.core;

import java.util.List;

/** What goes wrong: connections break, the network splits, processes pause and die. */
final class SimFaults {

  private final Sim sim;
  private final int meanMillis;

  SimFaults(Sim sim) {
    this.sim = sim;
    int[] rates = {300, 1_000, 3_000, 20_000};
    this.meanMillis = rates[sim.random.nextInt(rates.length)];
  }

  void start() {
    sim.after(sim.delay(4 * meanMillis), this::strike);
  }

  private void strike() {
    if (!sim.chaos) {
      return;
    }
    SimCoordinator victim = sim.coordinators.get(sim.random.nextInt(sim.coordinators.size()));
    int kind = sim.random.nextInt(100);
    if (kind < 30) {
      victim.feed.cut(noticed(), back());
    } else if (kind < 60) {
      List<SimConnection> connections = List.copyOf(victim.connections.values());
      connections.get(sim.random.nextInt(connections.size())).cut(noticed(), back());
    } else if (kind < 70) {
      victim.connections.values().forEach(connection -> connection.cut(noticed(), back()));
      victim.feed.cut(noticed(), back());
    } else if (kind < 85) {
      victim.pause(sim.delay(1_200));
    } else if (kind < 87) {
      victim.crash();
    } else if (kind < 91) {
      removeAny();
    } else {
      sim.zooKeeper.reap();
    }
    start();
  }

  /** Somebody with other tools deletes an entry that is in the way. */
  private void removeAny() {
    List<SimNode> queue = sim.zooKeeper.ordered(sim.anyLock());
    if (!queue.isEmpty()) {
      SimNode node = queue.get(sim.random.nextInt(queue.size()));
      sim.zooKeeper.delete(node.lock, node.name.text(), SimZooKeeper.Cause.REMOVED);
    }
  }

  private long noticed() {
    return sim.chance(70) ? sim.delay(300) : sim.random.nextInt(13_000) * Sim.MILLI;
  }

  private long back() {
    return sim.chance(70) ? sim.delay(1_000) : sim.random.nextInt(16_000) * Sim.MILLI;
  }
}
