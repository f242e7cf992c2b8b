package io.lockkeeper.server.core.simulation;

import java.util.List;

/** What goes wrong: connections break, the network splits, processes pause, die and leave. */
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
    SimCoordinator victim = anyCoordinator();
    int kind = sim.random.nextInt(100);
    if (sim.losesServers && sim.chance(40)) {
      victim.cutFromZooKeeper(noticed(), SimConnection.TIMEOUT + sim.delay(8_000));
    } else if (kind < 22) {
      victim.feed.cut(noticed(), back());
    } else if (kind < 44) {
      List<SimConnection> connections = List.copyOf(victim.connections.values());
      if (!connections.isEmpty()) {
        connections.get(sim.random.nextInt(connections.size())).cut(noticed(), back());
      }
    } else if (kind < 52) {
      victim.cutFromZooKeeper(noticed(), back());
    } else if (kind < 62) {
      victim.pause(sim.delay(1_200));
    } else if (kind < 84) {
      strikeHard(victim, kind);
    } else if (kind < 90) {
      removeAny();
    } else {
      sim.zooKeeper.reap();
    }
    start();
  }

  /** What makes others take over. */
  private void strikeHard(SimCoordinator victim, int kind) {
    if (kind < 66) {
      victim.crash();
    } else if (kind < 69) {
      victim.pause(SimMember.TIMEOUT + sim.random.nextInt(20_000) * Sim.MILLI);
    } else if (kind < 72) {
      victim.drain();
    } else if (kind < 75) {
      anyCoordinator().peers.suspect(victim, sim.delay(8_000));
    } else if (kind < 77) {
      victim.cutFromClients(sim.delay(6_000));
    } else if (kind < 79) {
      victim.cutFromZooKeeper(0, 3 * Sim.SECOND + sim.random.nextInt(15_000) * Sim.MILLI);
    } else if (!sim.clients.isEmpty()) {
      SimClient client = sim.clients.get(sim.random.nextInt(sim.clients.size()));
      if (kind < 81) {
        client.breakLink();
      } else {
        client.meetTwin();
      }
    }
  }

  private SimCoordinator anyCoordinator() {
    return sim.coordinators.get(sim.random.nextInt(sim.coordinators.size()));
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
