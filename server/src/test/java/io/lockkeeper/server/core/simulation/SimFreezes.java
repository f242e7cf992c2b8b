package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The frozen prefixes in the simulated ZooKeeper, who freezes and thaws, and what they promise. */
final class SimFreezes {

  /** A record of a frozen prefix, from one transaction to another. */
  record Written(Freeze freeze, long frozenAt, long writtenAt, long until) {
    Written until(long zxid) {
      return new Written(freeze, frozenAt, writtenAt, zxid);
    }

    boolean wasThere(long zxid) {
      return writtenAt <= zxid && zxid < until;
    }
  }

  private final Sim sim;
  private final Map<String, Written> frozen = new TreeMap<>();
  private final List<Written> past = new ArrayList<>();
  private final List<SimMirrorFeed> feeds = new ArrayList<>();
  private boolean over;

  SimFreezes(Sim sim) {
    this.sim = sim;
  }

  void watch(SimMirrorFeed feed) {
    feeds.add(feed);
  }

  void forget(SimMirrorFeed feed) {
    feeds.remove(feed);
  }

  void freeze(Freeze freeze) {
    if (over) {
      return;
    }
    sim.zooKeeper.barrier();
    long zxid = sim.zooKeeper.zxid();
    Optional<Written> before = Optional.ofNullable(frozen.get(freeze.prefix()));
    before.ifPresent(old -> past.add(old.until(zxid)));
    long since = before.map(Written::frozenAt).orElse(zxid);
    frozen.put(freeze.prefix(), new Written(freeze, since, zxid, Long.MAX_VALUE));
    if (before.isEmpty()) {
      tell(new FreezeEvent.Appeared(freeze.prefix()));
    }
    tell(new FreezeEvent.Read(freeze, zxid));
  }

  /** Returns whether it was frozen, and as it should be. */
  boolean thaw(String prefix, Predicate<Written> rule) {
    Optional<Written> found = Optional.ofNullable(frozen.get(prefix)).filter(rule);
    if (found.isEmpty()) {
      return false;
    }
    sim.zooKeeper.barrier();
    past.add(found.get().until(sim.zooKeeper.zxid()));
    frozen.remove(prefix);
    tell(new FreezeEvent.Vanished(prefix));
    return true;
  }

  private void tell(FreezeEvent event) {
    List.copyOf(feeds).forEach(feed -> feed.onFreeze(event));
  }

  /** Returns what a rebuild finds that knows all up to a transaction. */
  List<StoreEvent> listing(long zxid) {
    List<Written> found = new ArrayList<>(past);
    found.addAll(frozen.values());
    found.removeIf(written -> !written.wasThere(zxid));
    List<StoreEvent> events = new ArrayList<>();
    events.add(
        new FreezeEvent.Listed(
            new java.util.HashSet<>(found.stream().map(w -> w.freeze().prefix()).toList())));
    found.forEach(w -> events.add(new FreezeEvent.Read(w.freeze(), w.writtenAt())));
    return events;
  }

  /** Returns what an operator does. */
  ClientEvent meddling(CallId call, boolean freezes) {
    String[] prefixes = {"", "sim", "sim/", "sim/0", "sim/1", "sim/12"};
    String prefix = prefixes[sim.random.nextInt(prefixes.length)];
    Optional<Duration> duration =
        Optional.of(Duration.ofMillis(1 + sim.random.nextInt(5_000))).filter(d -> sim.chance(80));
    return freezes
        ? new ClientEvent.Freeze(call, new Freeze(prefix, "sim", "somebody", duration))
        : new ClientEvent.Unfreeze(call, prefix);
  }

  /** Nothing is frozen any more. */
  void end() {
    over = true;
    List.copyOf(frozen.keySet()).forEach(prefix -> thaw(prefix, any -> true));
  }

  /** A coordinator has taken an event. */
  void onTaken(SimCoordinator coordinator, Event event) {
    if (event instanceof FreezeEvent.Appeared appeared) {
      coordinator.frozen.add(appeared.prefix());
    } else if (event instanceof FreezeEvent.Vanished vanished) {
      coordinator.frozen.remove(vanished.prefix());
    } else if (event instanceof FreezeEvent.Listed listed) {
      coordinator.frozen.clear();
      coordinator.frozen.addAll(listed.prefixes());
    }
  }

  /** A coordinator has granted a lock because of its place in the queue. */
  void onGrant(
      SimCoordinator coordinator, LockName lock, Optional<SimNode> node, Supplier<String> what) {
    SimRules.check(
        coordinator.frozen.stream().noneMatch(lock.value()::startsWith),
        () -> "granted while it is seen to be frozen: " + what.get());
    // Whoever came after the freeze is seen after the freeze, wherever.
    SimRules.check(
        node.isEmpty()
            || frozen.values().stream()
                .filter(w -> lock.value().startsWith(w.freeze().prefix()))
                .noneMatch(w -> w.frozenAt() < node.get().czxid),
        () -> "granted though it was frozen before: " + what.get());
  }
}
