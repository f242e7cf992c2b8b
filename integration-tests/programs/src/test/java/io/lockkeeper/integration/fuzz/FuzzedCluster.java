package io.lockkeeper.integration.fuzz;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/**
 * A ZooKeeper and two coordinators in processes of their own, which forward to each other and speak
 * TLS only, for the {@link Callers} and the rights that the policy gives them.
 */
final class FuzzedCluster implements AutoCloseable {

  /** How many coordinators there are. */
  static final int SIZE = 2;

  private static final String LOCKS = "/lockkeeper/locks";
  private static final String FREEZES = "/lockkeeper/freezes";
  // The heap is taken at once, so that what grows beside it can be seen.
  private static final Map<String, String> ENVIRONMENT =
      Map.of("JAVA_TOOL_OPTIONS", "-Xms384m -XX:+AlwaysPreTouch");
  private static final Duration START = Duration.ofMinutes(2);

  // The longest TTL bounds how long what an attacker has forgotten may stay.
  private static final String POLICY =
      """
      rules:
        - name: attackers
          identities: ["spiffe://fuzz/a", "spiffe://fuzz/rival", "spiffe://fuzz/operator", "token:t"]
          locks: ["tenant-a/*"]
          rights: [all]
        - name: operators
          identities: ["spiffe://fuzz/operator"]
          locks: ["*"]
          rights: [admin]
        - name: witnesses
          identities: ["spiffe://fuzz/witness"]
          locks: ["tenant-b/*"]
          rights: [all]
      limits:
        - identities: ["spiffe://fuzz/witness"]
          leases: 100
        # Held to the default rate; the others get as deep as they can.
        - identities: ["token:t"]
          acquisitions: 1500
          leases: 1500
          max-ttl: 15s
        - identities: ["*"]
          acquisitions: 1500
          leases: 1500
          requests-per-second: 1000000
          max-ttl: 15s
      """;

  private final ZooKeeperProcess process;
  private final Znodes znodes;
  private final Callers callers;
  private final Path directory;
  private final List<ServerProcess> servers = new ArrayList<>();

  private FuzzedCluster(Path directory) throws IOException {
    this.directory = directory;
    this.callers = Callers.in(directory);
    Files.writeString(directory.resolve("policy.yaml"), POLICY);
    this.process = Rig.startZooKeeper();
    this.znodes = Znodes.at(process.connectString());
    for (int i = 0; i < SIZE; i++) {
      servers.add(launch(i, Ports.free()));
    }
    servers.forEach(FuzzedCluster::awaitServing);
  }

  /** Starts all. */
  static FuzzedCluster start() {
    try {
      return new FuzzedCluster(Scratch.directory("fuzz"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ServerProcess launch(int index, int port) {
    List<String> flags = new ArrayList<>(callers.flags());
    flags.add("--advertise=localhost:" + port);
    flags.add("--policy=" + directory.resolve("policy.yaml"));
    flags.add("--audit=" + directory.resolve("audit-" + index + ".log"));
    return ServerProcess.launch(
        ENVIRONMENT, port, process.connectString(), flags.toArray(String[]::new));
  }

  private static void awaitServing(ServerProcess server) {
    Awaitility.await("ready")
        .atMost(START)
        .failFast("the server has exited", () -> !server.isAlive())
        .until(() -> readyz(server).contains("\"serving\":true"));
  }

  /** Returns who calls. */
  Callers callers() {
    return callers;
  }

  /** Returns a new connection to one of the coordinators, for the caller to shut down. */
  ManagedChannel connect(Callers.Caller caller, int coordinator) {
    return callers.connect(caller, servers.get(coordinator).port());
  }

  /** Returns a new connection to each coordinator, for the caller to shut down. */
  List<ManagedChannel> connectToAll(Callers.Caller caller) {
    return servers.stream().map(server -> callers.connect(caller, server.port())).toList();
  }

  /** Returns a coordinator's process. */
  ServerProcess server(int coordinator) {
    return servers.get(coordinator);
  }

  /** Returns what a coordinator says of its being ready; empty if it says nothing. */
  String readyz(int coordinator) {
    return readyz(servers.get(coordinator));
  }

  private static String readyz(ServerProcess server) {
    URI uri = URI.create("http://127.0.0.1:" + server.httpPort() + "/readyz");
    try {
      return HttpClient.newHttpClient()
          .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
          .body();
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Ends a coordinator and starts one in its place. */
  void replace(int coordinator) {
    ServerProcess old = servers.get(coordinator);
    old.close();
    servers.set(coordinator, launch(coordinator, old.port()));
    awaitServing(servers.get(coordinator));
  }

  /** Returns the sum of the metrics of all coordinators whose lines begin so. */
  long metric(String line) {
    return (long) servers.stream().mapToDouble(server -> server.metric(line)).sum();
  }

  /** Returns the entries in ZooKeeper that are in queues of locks with other names than these. */
  List<String> entriesBeside(String encodedPrefix) {
    List<String> entries = new ArrayList<>();
    for (String lock : znodes.children(LOCKS)) {
      if (!lock.startsWith(encodedPrefix)) {
        znodes.children(LOCKS + "/" + lock).stream()
            .filter(child -> EntryName.parse(child).isPresent())
            .forEach(entry -> entries.add(lock + "/" + entry));
      }
    }
    return entries;
  }

  /** Returns the nodes in ZooKeeper that freeze something. */
  List<String> freezes() {
    return znodes.children(FREEZES);
  }

  /** Returns how many nodes ZooKeeper has. */
  long znodes() {
    return process
        .ask("mntr")
        .lines()
        .filter(line -> line.startsWith("zk_znode_count"))
        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf('\t') + 1)))
        .sum();
  }

  @Override
  public void close() {
    znodes.close();
    servers.forEach(ServerProcess::close);
    process.close();
  }
}
