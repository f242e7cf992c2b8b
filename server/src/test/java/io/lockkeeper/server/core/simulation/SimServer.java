package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The server of the ensemble to which a mirror is connected. It may lag behind: what it shows and
 * tells is then the truth as it was after some transaction, while other sessions already have the
 * answers to later ones. It never goes back in time, it tells events before it shows what comes
 * after them, and a write through it is answered only when it has caught up with that write.
 */
final class SimServer {

  /** How long a server lags at most. */
  private static final int MOST_BEHIND_MILLIS = 4_000;

  /** What was committed and is not known to this server. */
  private record Unapplied(long zxid, StoreEvent event) {}

  private final Sim sim;
  private final SimZooKeeper zooKeeper;
  private final Deque<Unapplied> unapplied = new ArrayDeque<>();
  private long position;
  private boolean behind;
  private int connections;

  SimServer(Sim sim) {
    this.sim = sim;
    this.zooKeeper = sim.zooKeeper;
  }

  /**
   * Begins a connection, with a write through the quorum as the real mirror does: so it shows at
   * least what was committed before. From then on it may lag, for a while.
   *
   * @param tell takes what it tells when it has caught up
   */
  void connect(SimMirrorFeed tell) {
    zooKeeper.seal();
    unapplied.clear();
    position = zooKeeper.zxid();
    behind = sim.lagging && sim.chance(50);
    int connection = ++connections;
    if (behind) {
      sim.after(
          sim.delay(MOST_BEHIND_MILLIS),
          () -> {
            if (connection == connections) {
              catchUp(tell);
            }
          });
    }
  }

  /** Something was committed: it is told now, or when this server has heard of it. */
  void committed(StoreEvent event, SimMirrorFeed tell) {
    if (behind) {
      unapplied.add(new Unapplied(zooKeeper.zxid(), event));
    } else {
      tell.deliver(event, zooKeeper.zxid());
    }
  }

  /** It hears of some of what was committed, or of nothing, or of all. */
  void advance(SimMirrorFeed tell) {
    if (behind && sim.chance(50)) {
      zooKeeper.seal();
      long more = zooKeeper.zxid() - position;
      advanceTo(position + (long) (sim.random.nextDouble() * (more + 1)), tell);
    }
  }

  /** It hears of everything that was committed. */
  void catchUp(SimMirrorFeed tell) {
    if (behind) {
      advanceTo(Long.MAX_VALUE, tell);
      behind = false;
    }
  }

  private void advanceTo(long zxid, SimMirrorFeed tell) {
    position = Math.max(position, zxid);
    while (!unapplied.isEmpty() && unapplied.peek().zxid() <= position) {
      Unapplied next = unapplied.remove();
      tell.deliver(next.event(), next.zxid());
    }
  }

  /** Returns the newest transaction that it knows. */
  long position() {
    return behind ? position : zooKeeper.zxid();
  }

  List<LockName> locks() {
    return behind ? zooKeeper.locksAsOf(position) : zooKeeper.lockList();
  }

  List<SimNode> queue(LockName lock) {
    return behind
        ? zooKeeper.orderedAsOf(lock, position).stream().filter(this::shows).toList()
        : zooKeeper.ordered(lock);
  }

  private boolean shows(SimNode node) {
    return node.goneZxid > position;
  }

  List<MarkerName> markers(LockName lock) {
    return behind ? zooKeeper.markersAsOf(lock, position) : zooKeeper.markers(lock);
  }

  /** Returns what an entry says of itself here. */
  Optional<StoreEvent.ReadEntry> read(LockName lock, String entry) {
    Stream<SimNode> found = behind ? queue(lock).stream() : zooKeeper.find(lock, entry).stream();
    return found
        .filter(node -> node.name.text().equals(entry))
        .findFirst()
        .map(node -> behind ? node.dataAsOf(position) : node.data());
  }
}
