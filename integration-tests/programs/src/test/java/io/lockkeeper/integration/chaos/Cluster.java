package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.harness.Network;
import io.lockkeeper.server.testing.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** Three ZooKeeper servers, three coordinators, and what lies between them. */
final class Cluster implements AutoCloseable {

  private static final int SIZE = 3;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final Path directory;
  private final Network network = new Network();
  private final List<ZooKeeperNode> zookeepers = new ArrayList<>();
  private final List<CoordinatorNode> coordinators = new ArrayList<>();

  private Cluster(Path directory) {
    this.directory = directory;
  }

  /** Starts all of it, and returns when every coordinator serves. */
  static Cluster start(Path directory, Optional<PlantedBug> bug) {
    Cluster cluster = new Cluster(directory);
    try {
      cluster.startZooKeepers();
      cluster.await("quorum", () -> cluster.zookeepers.stream().allMatch(ZooKeeperNode::isServing));
      cluster.startCoordinators(bug);
      cluster.await("coordinators", cluster::allServe);
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void startZooKeepers() {
    List<ZooKeeperNode.PeerPorts> peers = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      peers.add(new ZooKeeperNode.PeerPorts(Ports.free(), Ports.free()));
    }
    for (int i = 1; i <= SIZE; i++) {
      String self = "zk-" + i;
      Map<String, String> others = new LinkedHashMap<>();
      for (int j = 1; j <= SIZE; j++) {
        if (j != i) {
          ZooKeeperNode.PeerPorts ports = peers.get(j - 1);
          String peer = "zk-" + j;
          others.put(peer, network.open(self, peer, ports.quorum(), ports.election()));
        }
      }
      Path home = home(self);
      Path hosts = Network.hosts(home.resolve("hosts"), self, others);
      zookeepers.add(new ZooKeeperNode(home, i, Ports.free(), peers, hosts));
    }
  }

  private void startCoordinators(Optional<PlantedBug> bug) {
    List<Integer> ports = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      ports.add(Ports.free());
    }
    for (int i = 0; i < SIZE; i++) {
      String self = coordinator(i);
      Map<String, String> others = new LinkedHashMap<>();
      for (int j = 0; j < SIZE; j++) {
        if (j != i) {
          String peer = coordinator(j);
          others.put(peer, network.open(self, peer, ports.get(j)));
        }
      }
      Path home = home(self);
      Path hosts = Network.hosts(home.resolve("hosts"), self, others);
      String ensemble =
          zookeepers.stream()
              .map(z -> network.open(self, z.name(), z.clientPort()) + ":" + z.clientPort())
              .collect(Collectors.joining(","));
      CoordinatorNode.Place place =
          new CoordinatorNode.Place(ports.get(i), Ports.free(), ensemble, hosts);
      coordinators.add(new CoordinatorNode(self, home, place, bug));
    }
  }

  private static String coordinator(int index) {
    return "co-" + (index + 1);
  }

  private Path home(String node) {
    try {
      return Files.createDirectories(directory.resolve(node));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Opens the ways from a client process to the coordinators; returns their addresses. */
  String openTo(String client) {
    return coordinators.stream()
        .map(c -> network.open(client, c.name(), c.port()) + ":" + c.port())
        .collect(Collectors.joining(","));
  }

  Network network() {
    return network;
  }

  List<ZooKeeperNode> zookeepers() {
    return zookeepers;
  }

  List<CoordinatorNode> coordinators() {
    return coordinators;
  }

  /** Returns the ensemble as the harness itself sees it, past all proxies. */
  String connectString() {
    return zookeepers.stream()
        .map(z -> "127.0.0.1:" + z.clientPort())
        .collect(Collectors.joining(","));
  }

  boolean allServe() {
    return coordinators.stream().allMatch(CoordinatorNode::isServing);
  }

  /** Waits until all is well again; says whether it is. */
  boolean awaitHealth() {
    try {
      await("health", this::allServe);
      return true;
    } catch (org.awaitility.core.ConditionTimeoutException e) {
      return false;
    }
  }

  private void await(String what, java.util.concurrent.Callable<Boolean> condition) {
    Awaitility.await(what + ", see " + directory)
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(200))
        .until(condition);
  }

  @Override
  public void close() {
    coordinators.forEach(CoordinatorNode::kill);
    zookeepers.forEach(ZooKeeperNode::kill);
    network.close();
  }
}
