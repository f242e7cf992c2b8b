package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** A client that queues in ZooKeeper by itself, as those do who use Curator's recipe. */
final class SimStranger {

  private final Sim sim;
  private SimZooKeeper.Session session = new SimZooKeeper.Session();
  private Optional<SimZooKeeper.Node> entry = Optional.empty();
  private boolean holding;

  SimStranger(Sim sim) {
    this.sim = sim;
    sim.after(sim.delay(2_000), this::act);
  }

  private void act() {
    if (!sim.chaos) {
      return;
    }
    if (entry.isEmpty()) {
      UUID id = new UUID(sim.random.nextLong(), sim.random.nextLong());
      String prefix = sim.chance(50) ? "lock-" : EntryName.prefix(id, MutexKind.EXCLUSIVE);
      LockName lock = sim.anyLock();
      // A fixed prefix meets its own name once the counter sticks; the real recipe does not use
      // one.
      boolean taken =
          sim.zooKeeper.ordered(lock).stream()
              .anyMatch(node -> node.name.sequence() > Integer.MAX_VALUE - 9);
      entry =
          Optional.of(
              sim.zooKeeper.create(
                  session, lock, taken ? EntryName.prefix(id, MutexKind.EXCLUSIVE) : prefix));
    } else if (holding) {
      leave();
    } else {
      List<SimZooKeeper.Node> queue = sim.zooKeeper.ordered(entry.get().lock);
      if (queue.get(0) == entry.get()) {
        holding = true;
        sim.rules.onBelief(this, entry.get().lock);
      }
    }
    sim.after(sim.delay(1_500), this::act);
  }

  private void leave() {
    holding = false;
    if (sim.chance(20)) {
      sim.zooKeeper.end(session);
      session = new SimZooKeeper.Session();
    } else {
      entry.ifPresent(node -> sim.zooKeeper.delete(node.lock, node.name.text()));
    }
    entry = Optional.empty();
  }

  void finish() {
    leave();
  }

  boolean holds(LockName lock) {
    return holding && entry.filter(node -> node.lock.equals(lock)).isPresent();
  }

  @Override
  public String toString() {
    return "a stranger";
  }
}
