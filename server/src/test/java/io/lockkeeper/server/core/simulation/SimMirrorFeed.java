package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PermitsKind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The connection of one coordinator's mirror: events in ZooKeeper's order, each late by chance,
 * lost while it is disconnected; afterwards a rebuild, interleaved with new events, from a {@link
 * SimServer} that may lag behind.
 */
final class SimMirrorFeed implements SimZooKeeper.Watcher {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final Set<Long> barriers = new LinkedHashSet<>();
  private final Set<Read> reads = new LinkedHashSet<>();
  private final SimServer server;
  private boolean up;
  private int epoch;
  private long lastDelivery;

  private record Read(LockName lock, String entry) {}

  SimMirrorFeed(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.server = new SimServer(sim);
  }

  void start() {
    sim.zooKeeper.watch(this);
    sim.freezes.watch(this);
    connect();
  }

  boolean isUp() {
    return up;
  }

  @Override
  public void onAppeared(SimNode node) {
    if (up) {
      server.committed(new StoreEvent.EntryAppeared(node.lock, seen(node), node.czxid), this);
    }
  }

  @Override
  public void onVanished(SimNode node, long zxid) {
    if (up) {
      server.committed(new StoreEvent.EntryVanished(node.lock, seen(node), zxid), this);
    }
  }

  @Override
  public void onChanged(SimNode node, long zxid) {
    if (up) {
      server.committed(new StoreEvent.EntryChanged(node.lock, seen(node), zxid), this);
    }
  }

  @Override
  public void onMarked(LockName lock, MarkerName marker, long zxid) {
    if (up && shows(marker)) {
      server.committed(new StoreEvent.MarkerAppeared(lock, marker, zxid), this);
    }
  }

  @Override
  public void onUnmarked(LockName lock, MarkerName marker, long zxid) {
    if (up && shows(marker)) {
      server.committed(new StoreEvent.MarkerVanished(lock, marker, zxid), this);
    }
  }

  private boolean shows(MarkerName marker) {
    return !(sim.has(Sim.Mutant.LIMIT_IGNORED) && marker instanceof MarkerName.Limit);
  }

  /** The entry's name as the coordinator sees it. */
  EntryName seen(SimNode node) {
    Mode mode = node.name.mode();
    if (sim.has(Sim.Mutant.LIMIT_IGNORED) && mode instanceof PermitsKind.Permits permits) {
      mode = permits.of(PermitsKind.MAX_LIMIT);
    }
    int sequence =
        sim.has(Sim.Mutant.ORDER_BY_TEXT) ? node.name.text().hashCode() : node.name.sequence();
    if (sim.has(Sim.Mutant.LEVEL_BEHIND_ITS_BASE) && node.kept.isPresent()) {
      sequence = Math.min(Integer.MAX_VALUE - 1, sequence) + 1;
    }
    return new EntryName(node.name.text(), node.name.id(), mode, sequence);
  }

  /** Something has happened to what is frozen. */
  void onFreeze(FreezeEvent event) {
    if (up && !sim.has(Sim.Mutant.FREEZES_UNSEEN)) {
      server.committed(event, this);
    }
  }

  private void deliver(StoreEvent event) {
    deliver(event, server.position());
  }

  /** Tells an event behind those before it; the server has then told all up to a transaction. */
  void deliver(StoreEvent event, long zxid) {
    int sentIn = epoch;
    long at = sim.now + sim.delay(300);
    if (!sim.has(Sim.Mutant.EVENTS_OUT_OF_ORDER)) {
      at = Math.max(lastDelivery, at);
    }
    lastDelivery = Math.max(lastDelivery, at);
    sim.at(
        at,
        () -> {
          if (sentIn == epoch) {
            settle(event);
            coordinator.deliver(event, zxid);
          }
        });
  }

  private void settle(StoreEvent event) {
    if (event instanceof StoreEvent.BarrierPassed passed) {
      barriers.remove(passed.barrier());
    } else if (event instanceof StoreEvent.DetailsRead read) {
      reads.remove(new Read(read.lock(), read.entry()));
    }
  }

  private void connect() {
    up = true;
    server.connect(this);
    int connectedIn = epoch;
    if (sim.has(Sim.Mutant.CURRENT_BEFORE_LISTED)) {
      deliver(new StoreEvent.MirrorCurrent());
    }
    sim.after(sim.delay(200), () -> coordinator.take(() -> listLocks(connectedIn)));
  }

  private void listLocks(int connectedIn) {
    if (connectedIn != epoch) {
      return;
    }
    server.advance(this);
    if (!sim.has(Sim.Mutant.FREEZES_UNSEEN)) {
      sim.freezes.listing(server.position()).forEach(this::deliver);
    }
    List<LockName> locks = server.locks();
    deliver(new StoreEvent.RebuildStarted(new java.util.LinkedHashSet<>(locks)));
    listNext(connectedIn, new ArrayList<>(locks));
  }

  private void listNext(int connectedIn, List<LockName> left) {
    sim.after(sim.delay(200), () -> coordinator.take(() -> listOne(connectedIn, left)));
  }

  private void listOne(int connectedIn, List<LockName> left) {
    if (connectedIn != epoch) {
      return;
    }
    if (left.isEmpty()) {
      deliver(new StoreEvent.MirrorCurrent());
      return;
    }
    list(left.remove(0));
    listNext(connectedIn, left);
  }

  private void list(LockName lock) {
    sim.zooKeeper.seal();
    server.advance(this);
    List<SimNode> nodes = server.queue(lock);
    Map<Integer, Long> bySequence =
        nodes.stream()
            .collect(Collectors.groupingBy(n -> n.name.sequence(), Collectors.counting()));
    deliver(
        new StoreEvent.QueueListed(
            lock,
            nodes.stream()
                .map(
                    node ->
                        new StoreEvent.ListedEntry(
                            seen(node),
                            bySequence.get(node.name.sequence()) > 1
                                ? Optional.of(node.czxid)
                                : Optional.empty(),
                            bySequence.get(node.name.sequence()) > 1 ? node.index : 0))
                .toList(),
            server.markers(lock).stream().filter(this::shows).toList()));
  }

  /** Events stop; {@code noticed} later the coordinator knows, and later still it is back. */
  void cut(long noticed, long back) {
    if (!up) {
      return;
    }
    up = false;
    epoch++;
    int cutIn = epoch;
    sim.after(noticed, () -> coordinator.take(() -> onDisconnected(cutIn)));
    sim.after(noticed + back, () -> coordinator.take(() -> reconnect(cutIn)));
  }

  private void onDisconnected(int cutIn) {
    if (cutIn != epoch) {
      return;
    }
    if (!trusts()) {
      coordinator.deliver(new StoreEvent.MirrorStale());
    }
    failPending();
  }

  private boolean trusts() {
    return sim.has(Sim.Mutant.STALE_MIRROR_TRUSTED) && coordinator.mirrorIsCurrent;
  }

  private void failPending() {
    List<Long> failedBarriers = List.copyOf(barriers);
    List<Read> failedReads = List.copyOf(reads);
    barriers.clear();
    reads.clear();
    failedBarriers.forEach(b -> coordinator.deliver(new StoreEvent.BarrierFailed(b)));
    failedReads.forEach(
        read ->
            coordinator.deliver(
                new StoreEvent.DetailsRead(read.lock(), read.entry(), Optional.empty())));
  }

  private void reconnect(int cutIn) {
    if (cutIn != epoch) {
      return;
    }
    epoch++;
    if (trusts()) {
      up = true;
      failPending();
    } else {
      connect();
    }
  }

  /** The process is gone. */
  void stop() {
    sim.zooKeeper.forget(this);
    sim.freezes.forget(this);
    up = false;
    epoch++;
  }

  void barrier(long barrier) {
    if (!up) {
      sim.after(sim.delay(100), () -> coordinator.deliver(new StoreEvent.BarrierFailed(barrier)));
      return;
    }
    barriers.add(barrier);
    int sentIn = epoch;
    sim.after(
        sim.delay(100),
        () -> {
          if (sentIn == epoch) {
            sim.zooKeeper.barrier();
            server.catchUp(this);
            deliver(new StoreEvent.BarrierPassed(barrier));
          }
        });
  }

  void read(LockName lock, String entry) {
    if (!up) {
      sim.after(
          sim.delay(100),
          () -> coordinator.deliver(new StoreEvent.DetailsRead(lock, entry, Optional.empty())));
      return;
    }
    reads.add(new Read(lock, entry));
    int sentIn = epoch;
    sim.after(
        sim.delay(100),
        () -> {
          if (sentIn == epoch) {
            deliver(new StoreEvent.DetailsRead(lock, entry, server.read(lock, entry)));
          }
        });
  }

  /** A write over this connection was answered: what is read from now on is no older. */
  void onWritten() {
    if (up) {
      server.catchUp(this);
    }
  }
}
