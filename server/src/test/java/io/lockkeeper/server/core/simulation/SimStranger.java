package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/** A client that queues in ZooKeeper by itself, as those do who use Curator's recipes. */
final class SimStranger {

  private final Sim sim;
  private SimSession session = new SimSession();
  private Optional<SimNode> entry = Optional.empty();
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
      queue(sim.anyLock());
    } else if (!holding) {
      holdIfFirst(entry.get());
    } else if (entry.get().name.mode() == ReadWriteKind.WRITE && sim.chance(40)) {
      downgrade(entry.get());
    } else {
      leave();
    }
    sim.after(sim.delay(1_500), this::act);
  }

  private void queue(LockName lock) {
    if (sim.modes.family(lock) == SimModes.Family.PERMITS) {
      // Curator's semaphores are elsewhere.
      return;
    }
    Mode mode =
        sim.modes.family(lock) == SimModes.Family.MUTEX
            ? MutexKind.EXCLUSIVE
            : sim.chance(60) ? ReadWriteKind.READ : ReadWriteKind.WRITE;
    // A fixed prefix meets its own name once the counter sticks; the real recipe does not use one.
    boolean taken =
        sim.zooKeeper.ordered(lock).stream()
            .anyMatch(node -> node.name.sequence() > Integer.MAX_VALUE - 9);
    boolean fixed = !taken && mode == MutexKind.EXCLUSIVE && sim.chance(50);
    entry =
        Optional.of(
            sim.zooKeeper.create(
                session, lock, fixed ? "lock-" : prefix(mode), OptionalInt.empty()));
  }

  private String prefix(Mode mode) {
    return EntryName.prefix(new UUID(sim.random.nextLong(), sim.random.nextLong()), mode);
  }

  private void holdIfFirst(SimNode node) {
    List<SimNode> ahead = new ArrayList<>();
    for (SimNode other : sim.zooKeeper.ordered(node.lock)) {
      if (other == node) {
        holding = SimModes.joins(node, ahead, Integer.MAX_VALUE);
      }
      ahead.add(other);
    }
    if (holding) {
      sim.rules.onBelief(this, node.lock, node.name.mode());
    }
  }

  /** A reader takes the writer's own place, and the writer goes. */
  private void downgrade(SimNode write) {
    if (write.name.sequence() == Integer.MAX_VALUE) {
      leave();
      return;
    }
    OptionalInt place = OptionalInt.of(write.name.sequence());
    entry =
        Optional.of(sim.zooKeeper.create(session, write.lock, prefix(ReadWriteKind.READ), place));
    delete(write);
  }

  private void leave() {
    holding = false;
    if (sim.chance(20)) {
      sim.zooKeeper.end(session);
      session = new SimSession();
    } else {
      entry.ifPresent(this::delete);
    }
    entry = Optional.empty();
  }

  private void delete(SimNode node) {
    sim.zooKeeper.delete(node.lock, node.name.text(), SimZooKeeper.Cause.DELETED);
  }

  /** Somebody has taken an entry away. */
  void onRemoved(SimNode node) {
    if (entry.equals(Optional.of(node))) {
      holding = false;
      entry = Optional.empty();
    }
  }

  void finish() {
    leave();
  }

  /** Returns how the stranger holds a lock, if it does. */
  Optional<Mode> holds(LockName lock) {
    return entry.filter(node -> holding && node.lock.equals(lock)).map(node -> node.name.mode());
  }

  @Override
  public String toString() {
    return "a stranger";
  }
}
