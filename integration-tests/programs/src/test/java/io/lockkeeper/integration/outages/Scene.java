package io.lockkeeper.integration.outages;

import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Ensemble;
import io.lockkeeper.integration.failover.Load;
import io.lockkeeper.integration.failover.Pace;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Network;
import io.lockkeeper.integration.harness.SmallDisk;
import io.lockkeeper.integration.harness.WallClock;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.opentest4j.TestAbortedException;

/** An ensemble, coordinators in front of it and clients at work, with a proxy between any two. */
final class Scene implements AutoCloseable {

  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int CLIENTS = 16;
  private static final int DISK_MEBIBYTES = 48;

  private final List<AutoCloseable> parts = new ArrayList<>();
  private final List<SmallDisk> disks = new ArrayList<>();
  private final List<WallClock> clocks = new ArrayList<>();
  private final Network network = new Network();
  private Cluster cluster;
  private Load load;

  /** What only some faults need. */
  enum Need {
    NOTHING,
    SMALL_DISKS,
    CLOCKS
  }

  private Scene() {}

  /** Starts everything, and returns when every client has had a lock. */
  static Scene start(int servers, int coordinators, Need need) {
    Scene scene = new Scene();
    try {
      scene.open(servers, coordinators, need);
      return scene;
    } catch (RuntimeException | Error e) {
      scene.close();
      throw e;
    }
  }

  private void open(int servers, int coordinators, Need need) {
    parts.add(network);
    Ensemble.Plan plan = Ensemble.Plan.of(servers, Pace.PRODUCTION).over(network);
    if (need == Need.SMALL_DISKS) {
      for (int i = 0; i < servers; i++) {
        SmallDisk disk =
            SmallDisk.mount(DISK_MEBIBYTES)
                .orElseThrow(() -> new SkippedException("a file system cannot be mounted here"));
        disks.add(disk);
        parts.add(disk);
      }
      plan = plan.in(i -> disk(i).directory());
    }
    if (need == Need.CLOCKS) {
      for (int i = 0; i <= servers; i++) {
        clocks.add(clockOrSkip());
      }
      plan = plan.with(i -> clock(i).environment());
    }
    Ensemble ensemble = Ensemble.start(plan);
    parts.add(ensemble);
    cluster =
        Cluster.start(
            new Cluster.Plan(Pace.PRODUCTION, servers, coordinators, true, false),
            ensemble,
            i -> i == 0 && need == Need.CLOCKS ? clock(servers).environment() : Map.of());
    parts.add(cluster);
    load = Load.start(cluster.addresses(), CLIENTS, TTL, "outage");
    parts.add(load);
  }

  private static WallClock clockOrSkip() {
    try {
      return WallClock.right();
    } catch (TestAbortedException e) {
      throw new SkippedException("the library that sets wall clocks is not installed");
    }
  }

  /** Returns the coordinators and what lies before and behind them. */
  Cluster cluster() {
    return cluster;
  }

  /** Returns the clients. */
  Load load() {
    return load;
  }

  /** Returns servers by their indexes. */
  List<ZooKeeperProcess> servers(Collection<Integer> indexes) {
    return indexes.stream().map(index -> cluster.ensemble().servers().get(index)).toList();
  }

  /**
   * Returns so many servers, the leader first or not at all, and of the others those first that
   * most of what coordinators have open is connected to. Nobody is connected to a leader that is
   * not among them: it would feel nothing.
   */
  List<Integer> choose(int count, boolean leader, Random random) {
    List<ZooKeeperProcess> all = cluster.ensemble().servers();
    int leads = all.indexOf(cluster.ensemble().leader());
    List<Integer> others =
        new ArrayList<>(IntStream.range(0, all.size()).filter(i -> i != leads).boxed().toList());
    if (!leader) {
      int everyone = IntStream.range(0, all.size()).map(this::connections).sum();
      wiresTo(leads).forEach(ByteProxy::refuse);
      Awaitility.await("coordinators at followers")
          .atMost(PATIENCE)
          .until(() -> others.stream().mapToInt(this::connections).sum() >= everyone);
      wiresTo(leads).forEach(ByteProxy::admit);
    }
    Collections.shuffle(others, random);
    others.sort(Comparator.comparingInt(this::connections).reversed());
    return Stream.concat(leader ? Stream.of(leads) : Stream.of(), others.stream())
        .limit(count)
        .toList();
  }

  private int connections(int server) {
    return wiresTo(server).stream().mapToInt(ByteProxy::connections).sum();
  }

  private List<ByteProxy> wiresTo(int server) {
    return IntStream.range(0, cluster.seats().size())
        .mapToObj(i -> cluster.wires(i).get(server))
        .toList();
  }

  /** Returns all connections that are opened to servers. */
  List<ByteProxy> linksTo(Collection<Integer> servers) {
    List<ByteProxy> links = new ArrayList<>();
    for (int server : servers) {
      links.addAll(network.between("", Ensemble.name(server)));
      links.addAll(wiresTo(server));
    }
    return links;
  }

  /** Returns all connections that servers open. */
  List<ByteProxy> linksFrom(Collection<Integer> servers) {
    return servers.stream()
        .flatMap(server -> network.between(Ensemble.name(server), "").stream())
        .toList();
  }

  /** Returns the disk of a server. */
  SmallDisk disk(int server) {
    return disks.get(server);
  }

  /** Returns the clock of a server. */
  WallClock clock(int server) {
    return clocks.get(server);
  }

  /** Returns the clock of the first coordinator. */
  WallClock clockOfACoordinator() {
    return clocks.get(clocks.size() - 1);
  }

  /** Returns what one connects to who knows all servers but some. */
  String connectStringWithout(Collection<Integer> victims) {
    List<ZooKeeperProcess> others = new ArrayList<>(cluster.ensemble().servers());
    others.removeAll(servers(victims));
    return others.stream().map(ZooKeeperProcess::connectString).collect(Collectors.joining(","));
  }

  /** Returns the locks that clients keep and share. */
  Collection<String> locks() {
    Collection<String> locks = new TreeSet<>(load.locks(true));
    locks.addAll(load.locks(false));
    return locks;
  }

  /** Waits until everybody serves and every client goes on. */
  void recover(Duration patience) {
    cluster.ensemble().awaitWhole();
    cluster.restore();
    load.awaitMarks(load.turners(), System.nanoTime(), patience);
  }

  @Override
  public void close() {
    for (int i = parts.size() - 1; i >= 0; i--) {
      try {
        parts.get(i).close();
      } catch (Exception e) {
        Outages.say("while cleaning up: %s", e);
      }
    }
  }
}
