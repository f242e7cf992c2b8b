package io.lockkeeper.integration.failover;

import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/** ZooKeeper: one server alone, or three that elect a leader, each a process with its own data. */
public final class Ensemble implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<ZooKeeperProcess> servers;

  private Ensemble(List<ZooKeeperProcess> servers) {
    this.servers = servers;
  }

  /** Starts so many servers and returns when all of them serve. */
  public static Ensemble start(int size, Pace pace) {
    return start(size, pace, i -> Scratch.directory("zookeeper-" + (i + 1)));
  }

  /** Starts a server that is alone, in a given environment, and returns when it serves. */
  static Ensemble startAlone(Pace pace, Map<String, String> environment) {
    ZooKeeperProcess.Builder server = settings(Scratch.directory("zookeeper"), pace);
    return new Ensemble(List.of(server.environment(environment).start()));
  }

  /** Like {@link #start(int, Pace)}, and says where each server keeps its data. */
  public static Ensemble start(int size, Pace pace, IntFunction<Path> directories) {
    List<String> lines = new ArrayList<>();
    for (int i = 1; i <= size; i++) {
      lines.add("127.0.0.1:" + Ports.free() + ":" + Ports.free());
    }
    Ensemble ensemble =
        new Ensemble(
            IntStream.range(0, size)
                .mapToObj(i -> server(directories.apply(i), i + 1, lines, pace))
                .toList());
    // None of them serves before most of them run.
    CompletableFuture.allOf(
            ensemble.servers.stream()
                .map(server -> CompletableFuture.runAsync(server::start))
                .toArray(CompletableFuture[]::new))
        .join();
    return ensemble;
  }

  private static ZooKeeperProcess server(
      Path directory, int number, List<String> peers, Pace pace) {
    ZooKeeperProcess.Builder builder = settings(directory, pace);
    if (peers.size() > 1) {
      for (int i = 1; i <= peers.size(); i++) {
        builder.configuration("server." + i, peers.get(i - 1));
      }
      try {
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.writeString(data.resolve("myid"), number + "\n");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return builder.build();
  }

  private static ZooKeeperProcess.Builder settings(Path directory, Pace pace) {
    return ZooKeeperProcess.in(directory)
        .configuration("tickTime", Long.toString(pace.tick().toMillis()))
        .configuration("syncLimit", Integer.toString(pace.syncLimit()))
        .systemProperty("zookeeper.forceSync", pace.fsync() ? "yes" : "no");
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
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> inMode("leader", "standalone"), found -> !found.isEmpty())
        .get(0);
  }

  /** Returns those that follow the leader now. */
  public List<ZooKeeperProcess> followers() {
    return inMode("follower", "follower");
  }

  /** Waits until every server leads or follows. */
  public void awaitWhole() {
    Awaitility.await("a whole ensemble")
        .atMost(PATIENCE)
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
