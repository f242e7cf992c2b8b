package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The rule of admission once more, as dumb as can be: what kind each lock of a run is, who may hold
 * together, and who must wait.
 */
final class SimModes {

  /** What a lock is for. */
  enum Family {
    MUTEX,
    READ_WRITE,
    PERMITS
  }

  private final Sim sim;
  private final Map<LockName, Family> families = new HashMap<>();
  private final Map<LockName, Integer> limits = new HashMap<>();

  SimModes(Sim sim) {
    this.sim = sim;
  }

  void decide(LockName lock) {
    int kind = sim.random.nextInt(10);
    families.put(lock, kind < 3 ? Family.MUTEX : kind < 7 ? Family.READ_WRITE : Family.PERMITS);
    limits.put(lock, 1 + sim.random.nextInt(4));
  }

  Family family(LockName lock) {
    return families.get(lock);
  }

  /** Returns what somebody might ask of a lock, rarely something that does not go with it. */
  Mode any(LockName lock) {
    Family[] all = Family.values();
    Family family = sim.chance(1) ? all[sim.random.nextInt(all.length)] : family(lock);
    return switch (family) {
      case MUTEX -> MutexKind.EXCLUSIVE;
      case READ_WRITE -> sim.chance(60) ? ReadWriteKind.READ : ReadWriteKind.WRITE;
      case PERMITS -> permits(limits.get(lock));
    };
  }

  private Mode permits(int limit) {
    int kind = sim.random.nextInt(10);
    int permits = 1 + sim.random.nextInt(limit);
    if (kind < 3) {
      return new PermitsKind.Permits(permits, PermitsKind.AS_CONFIGURED);
    }
    return new PermitsKind.Permits(permits, kind < 9 ? limit : limit + 1);
  }

  /** Returns a limit that somebody might set; empty takes it back. */
  OptionalInt anyLimit() {
    return sim.chance(30) ? OptionalInt.empty() : OptionalInt.of(1 + sim.random.nextInt(5));
  }

  /**
   * Returns whether two holds exclude each other, permits apart.
   *
   * @param sameOwner whether they are of one lease and one named owner
   */
  static boolean exclude(Mode a, Mode b, boolean sameOwner) {
    if (a instanceof PermitsKind.Permits && b instanceof PermitsKind.Permits) {
      return false;
    }
    boolean readWrite = isReadWrite(a) && isReadWrite(b);
    boolean bothRead = a == ReadWriteKind.READ && b == ReadWriteKind.READ;
    boolean bothWrite = a == ReadWriteKind.WRITE && b == ReadWriteKind.WRITE;
    boolean bothMutex = a == MutexKind.EXCLUSIVE && b == MutexKind.EXCLUSIVE;
    if (bothRead) {
      return false;
    }
    // The write and the read that goes on from it; the same held once more.
    return !(sameOwner && (readWrite || bothWrite || bothMutex));
  }

  /** Returns whether an entry of one mode may be for a request of another: the limit aside. */
  static boolean isAlike(Mode entry, Mode wanted) {
    return wanted instanceof PermitsKind.Permits
        ? entry instanceof PermitsKind.Permits && entry.weight() == wanted.weight()
        : entry.equals(wanted);
  }

  private static boolean isReadWrite(Mode mode) {
    return mode == ReadWriteKind.READ || mode == ReadWriteKind.WRITE;
  }

  /** Returns whether a lone entry ahead keeps another from holding. */
  static boolean blocks(SimNode ahead, SimNode node, int limit) {
    if (ahead.name.mode() instanceof PermitsKind.Permits a
        && node.name.mode() instanceof PermitsKind.Permits b) {
      return a.permits() + b.permits() > limit;
    }
    return exclude(ahead.name.mode(), node.name.mode(), goesOn(ahead, node));
  }

  /** Returns whether an entry may hold while everything ahead of it does. */
  static boolean joins(SimNode node, List<SimNode> ahead, int limit) {
    int taken = 0;
    for (SimNode other : ahead) {
      if (exclude(other.name.mode(), node.name.mode(), goesOn(other, node))) {
        return false;
      }
      taken += other.name.mode().weight();
    }
    return !(node.name.mode() instanceof PermitsKind.Permits permits)
        || taken + permits.permits() <= limit;
  }

  /** Returns whether an entry was placed beside another by the other's holder. */
  static boolean goesOn(SimNode held, SimNode beside) {
    return held.name.sequence() == beside.name.sequence()
        && held.name.sequence() != Integer.MAX_VALUE
        && held.owner == beside.owner
        && held.details.leaseId().equals(beside.details.leaseId())
        && held.details.owner().equals(beside.details.owner());
  }

  /** Returns the largest limit under which an entry may have been admitted. */
  int largestLimit(SimNode node) {
    return sim.zooKeeper.limitsSince(node.lock, node.czxid).stream()
        .mapToInt(limit -> limit.orElse(node.name.mode().capacity()))
        .max()
        .orElseThrow();
  }

  /** Returns the smallest limit under which an entry may have been made to wait. */
  int smallestLimit(SimNode node, List<SimNode> ahead) {
    int named = node.name.mode().capacity();
    for (SimNode other : ahead) {
      named = Math.min(named, other.name.mode().capacity());
    }
    int smallest = named;
    return sim.zooKeeper.limitsSince(node.lock, node.czxid).stream()
        .mapToInt(limit -> limit.orElse(smallest))
        .min()
        .orElseThrow();
  }

  /** Returns the limit that is in force for an entry. */
  int limitNow(SimNode node, List<SimNode> ahead) {
    int named = node.name.mode().capacity();
    for (SimNode other : ahead) {
      named = Math.min(named, other.name.mode().capacity());
    }
    return sim.zooKeeper
        .limitsSince(node.lock, sim.zooKeeper.zxid())
        .iterator()
        .next()
        .orElse(named);
  }
}
