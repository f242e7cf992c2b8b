package io.lockkeeper.integration.failover;

import io.lockkeeper.integration.harness.Network;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** ZooKeeper: one server alone, or three that elect a leader, each a process with its own data. */
public final class Ensemble implements AutoCloseable {

  /** A follower that is refused by a leader that does not listen yet tries again a second later. */
  private static final Duration PROXIES = Duration.ofSeconds(2);

  private final List<ZooKeeperProcess> servers;

  private Ensemble(List<ZooKeeperProcess> servers) {
    this.servers = servers;
  }

  /**
   * What an ensemble is made of.
   *
   * @param size how many servers
   * @param directories where each keeps its data
   * @param environments of each process
   * @param network what lies between any two servers; without it they reach each other directly
   */
  public record Plan(
      int size,
      Pace pace,
      IntFunction<Path> directories,
      IntFunction<Map<String, String>> environments,
      Optional<Network> network) {

    /** Returns so many servers with nothing special about them. */
    public static Plan of(int size, Pace pace) {
      return new Plan(
          size,
          pace,
          i -> Scratch.directory("zookeeper-" + (i + 1)),
          i -> Map.of(),
          Optional.empty());
    }

    /** Returns the same with other places for data. */
    public Plan in(IntFunction<Path> others) {
      return new Plan(size, pace, others, environments, network);
    }

    /** Returns the same in other environments. */
    public Plan with(IntFunction<Map<String, String>> others) {
      return new Plan(size, pace, directories, others, network);
    }

    /** Returns the same with servers that reach each other over a network only. */
    public Plan over(Network between) {
      return new Plan(size, pace, directories, environments, Optional.of(between));
    }
  }

  /** The ports of a server that its peers use. */
  private record PeerPorts(int quorum, int election) {}

  /** Starts so many servers and returns when all of them serve. */
  public static Ensemble start(int size, Pace pace) {
    return start(Plan.of(size, pace));
  }

  /** Starts servers and returns when all of them serve. */
  public static Ensemble start(Plan plan) {
    List<PeerPorts> ports =
        Stream.generate(() -> new PeerPorts(Ports.free(), Ports.free()))
            .limit(plan.size())
            .toList();
    Ensemble ensemble =
        new Ensemble(
            IntStream.range(0, plan.size()).mapToObj(i -> server(plan, i, ports)).toList());
    ensemble.startAll();
    return ensemble;
  }

  /** Starts the servers that do not run, and returns when they serve. */
  public void startAll() {
    // None of them serves before most of them run.
    CompletableFuture.allOf(
            servers.stream()
                .filter(server -> !server.isAlive())
                .map(
                    server ->
                        CompletableFuture.runAsync(
                            server::start, task -> new Thread(task, "start-zookeeper").start()))
                .toArray(CompletableFuture[]::new))
        .join();
  }

  private static ZooKeeperProcess server(Plan plan, int index, List<PeerPorts> ports) {
    Path directory = plan.directories().apply(index);
    Pace pace = plan.pace();
    ZooKeeperProcess.Builder builder =
        ZooKeeperProcess.in(directory)
            .environment(plan.environments().apply(index))
            .configuration("tickTime", Long.toString(pace.tick().toMillis()))
            .configuration("syncLimit", Integer.toString(pace.syncLimit()))
            .configuration("maxSessionTimeout", Long.toString(longestSession(pace).toMillis()))
            .systemProperty("zookeeper.forceSync", pace.fsync() ? "yes" : "no");
    if (plan.size() > 1) {
      for (int i = 0; i < plan.size(); i++) {
        String host = plan.network().isPresent() ? name(i) : "127.0.0.1";
        PeerPorts peer = ports.get(i);
        builder.configuration(
            "server." + (i + 1), host + ":" + peer.quorum() + ":" + peer.election());
      }
      plan.network()
          .map(network -> hosts(network, directory, index, ports))
          .ifPresent(hosts -> builder.systemProperty("jdk.net.hosts.file", hosts.toString()));
      try {
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.writeString(data.resolve("myid"), (index + 1) + "\n");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return builder.build();
  }

  private static Duration longestSession(Pace pace) {
    Duration minute = Duration.ofMinutes(1);
    return pace.lockSession().compareTo(minute) > 0 ? pace.lockSession() : minute;
  }

  /** Returns what a server is called in a network. */
  public static String name(int index) {
    return "zk-" + (index + 1);
  }

  private static Path hosts(Network network, Path directory, int index, List<PeerPorts> ports) {
    Map<String, String> others = new LinkedHashMap<>();
    for (int i = 0; i < ports.size(); i++) {
      if (i != index) {
        PeerPorts peer = ports.get(i);
        others.put(
            name(i), network.open(name(index), name(i), PROXIES, peer.quorum(), peer.election()));
      }
    }
    return Network.hosts(directory.resolve("hosts"), name(index), others);
  }

  /** Returns all servers. */
  public List<ZooKeeperProcess> servers() {
    return servers;
  }

  /** Returns what a client connects to. */
  public String connectString() {
    return servers.stream().map(ZooKeeperProcess::connectString).collect(Collectors.joining(","));
  }

  /** Returns the leader; of one server alone, that. */
  public ZooKeeperProcess leader() {
    return Awaitility.await("a leader")
        .pollInterval(Duration.ofMillis(20))
        .until(() -> inMode("leader", "standalone"), found -> !found.isEmpty())
        .get(0);
  }

  /** Returns those that follow the leader now. */
  public List<ZooKeeperProcess> followers() {
    return inMode("follower", "follower");
  }

  /** Resumes or starts every server, and returns when each leads or follows. */
  void restore() {
    servers.stream().filter(ZooKeeperProcess::isAlive).forEach(ZooKeeperProcess::resume);
    startAll();
    awaitWhole();
  }

  /** Waits until every server leads or follows. */
  public void awaitWhole() {
    Awaitility.await("a whole ensemble")
        .pollInterval(Duration.ofMillis(50))
        .until(() -> servers.stream().noneMatch(server -> mode(server).isEmpty()));
  }

  private List<ZooKeeperProcess> inMode(String one, String other) {
    return servers.stream()
        .filter(server -> mode(server).equals(one) || mode(server).equals(other))
        .toList();
  }

  /** Returns what a server says that it is; empty if it serves nobody. */
  public static String mode(ZooKeeperProcess server) {
    try {
      return server
          .ask("srvr")
          .lines()
          .filter(line -> line.startsWith("Mode: "))
          .map(line -> line.substring("Mode: ".length()))
          .findFirst()
          .orElse("");
    } catch (UncheckedIOException dead) {
      return "";
    }
  }

  @Override
  public void close() {
    servers.forEach(ZooKeeperProcess::close);
  }
}
