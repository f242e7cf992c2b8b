package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.core.shard.ShardTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The table of shards in the simulated ZooKeeper, and an operator who moves the namespace of all
 * locks to another shard and back: what is granted meanwhile, and the tokens afterwards.
 */
final class SimShards {

  private static final String NAMESPACE = "sim";
  private static final String HERE = "here";
  private static final String THERE = "there";
  private static final int MOST_LOOKS = 20;

  private record Written(ShardRecord record, long zxid) {
    boolean isOpen() {
      ShardTable table = record.table();
      return table.version() == 0
          || (table.moves().isEmpty() && table.namespaces().get(NAMESPACE).shard().equals(HERE));
    }
  }

  private final Sim sim;
  private final NavigableMap<Long, Written> written = new TreeMap<>();
  private final List<SimMirrorFeed> feeds = new ArrayList<>();
  // Each with the zxid of the table it was asked under: under a newer one its answer means nothing.
  private final Map<CallId, Long> asked = new HashMap<>();

  /** How many epochs are added to ZooKeeper's in tokens. */
  private int epochs;

  /** What was granted elsewhere is below this. */
  private long floor;

  private int looks;
  private boolean away;
  private boolean over;

  /** How often the namespace came back. */
  int returns;

  SimShards(Sim sim) {
    this.sim = sim;
    written.put(0L, new Written(ShardRecord.NONE, 0));
  }

  void start() {
    sim.after(sim.delay(4_000), this::close);
  }

  void watch(SimMirrorFeed feed) {
    feeds.add(feed);
  }

  void forget(SimMirrorFeed feed) {
    feeds.remove(feed);
  }

  private Written now() {
    return written.lastEntry().getValue();
  }

  /** Returns what was there after a transaction. */
  ShardEvent.Read asOf(long zxid) {
    Written then = written.floorEntry(zxid).getValue();
    return new ShardEvent.Read(Optional.of(then.record()), then.zxid());
  }

  private void write(String shard, boolean moves) {
    NavigableMap<String, Shard> shards = new TreeMap<>();
    for (String id : List.of(HERE, THERE)) {
      shards.put(id, new Shard(id, List.of(id + ":1"), true, 0));
    }
    ShardTable table =
        new ShardTable(
            now().record().table().version() + 1,
            HERE,
            shards,
            new TreeMap<>(Map.of(NAMESPACE, new ShardTable.Placed(shard, epochs))),
            new TreeMap<>(moves ? Map.of(NAMESPACE, THERE) : Map.of()),
            "",
            "");
    sim.zooKeeper.barrier();
    long zxid = sim.zooKeeper.zxid();
    written.put(zxid, new Written(new ShardRecord(HERE, table), zxid));
    sim.note("shards", table);
    List.copyOf(feeds).forEach(SimMirrorFeed::onShards);
  }

  /** The namespace begins to go. */
  private void close() {
    if (!over) {
      write(HERE, true);
      looks = 0;
      look();
    }
  }

  /** Asks anybody what is left, again and again; one in a few gives up, and so who waits long. */
  private void look() {
    sim.after(
        200 * Sim.MILLI + sim.delay(1_000),
        () -> {
          if (over || away || now().isOpen()) {
            return;
          }
          if (++looks > MOST_LOOKS || sim.chance(3)) {
            write(HERE, false);
            sim.after(sim.delay(4_000), this::close);
            return;
          }
          SimCoordinator any = sim.coordinators.get(sim.random.nextInt(sim.coordinators.size()));
          CallId call = new CallId(sim.name());
          asked.put(call, now().zxid());
          any.deliver(new ClientEvent.ListNamespaces(call, Optional.of(NAMESPACE)));
          look();
        });
  }

  /** Takes the answer to the operator's question; returns whether it was the operator's. */
  boolean takes(CallId call, Answer answer) {
    Optional<Long> table = Optional.ofNullable(asked.remove(call));
    if (table.equals(Optional.of(now().zxid()))
        && answer instanceof Answer.NamespacesListed listed
        && listed.entries().get(NAMESPACE) == 0
        && !over
        && !away
        && !now().isOpen()) {
      away = true;

      for (SimClient client : sim.clients) {
        sim.locks.forEach(
            lock ->
                SimRules.check(
                    client.beliefs(lock).isEmpty(),
                    () -> "said to be empty, and " + client + " holds " + lock));
      }
      sim.after(sim.delay(500), () -> write(THERE, false));
      sim.after(sim.delay(500) + 600 * Sim.MILLI, this::back);
    }
    return table.isPresent();
  }

  /** It comes back, after some epochs elsewhere. */
  private void back() {
    if (away) {
      int more = 1 + sim.random.nextInt(3);
      floor = FencingToken.of(sim.zooKeeper.zxid(), 0, epochs + more).value();
      epochs += sim.has(Sim.Mutant.EPOCHS_NOT_RAISED) ? 0 : more + 1;
      away = false;
      returns++;
      write(HERE, false);
      sim.after(sim.delay(6_000), this::close);
    }
  }

  /** The namespace is here, and stays. */
  void end() {
    over = true;

    if (away) {
      back();
    } else if (!now().isOpen()) {
      write(HERE, false);
    }
  }

  /** A coordinator has taken an event. */
  void onTaken(SimCoordinator coordinator, Event event) {
    if (event instanceof ShardEvent.Changed) {
      coordinator.closed = true;
    } else if (event instanceof ShardEvent.Read read) {
      coordinator.closed = !new Written(read.record().orElseThrow(), read.zxid()).isOpen();
    }
  }

  /**
   * A coordinator has granted a lock because of its place in the queue. Another level of a hold
   * rests on that: where it was taken away by force, its coordinator may not have heard.
   */
  void onGrant(
      SimCoordinator coordinator,
      Optional<SimNode> node,
      Notice.Grant grant,
      Supplier<String> what) {
    SimRules.check(!away, () -> "granted while another shard serves it: " + what.get());
    SimRules.check(
        grant.token().value() > floor,
        () -> "the token is not above " + floor + ", as granted elsewhere: " + what.get());
    SimRules.check(
        !coordinator.closed, () -> "granted while it is seen to be closed: " + what.get());
    // Whoever came after the change is seen after the change, wherever.
    SimRules.check(
        node.isEmpty() || now().isOpen() || node.get().czxid < now().zxid(),
        () -> "granted though it was closed before: " + what.get());
  }
}
