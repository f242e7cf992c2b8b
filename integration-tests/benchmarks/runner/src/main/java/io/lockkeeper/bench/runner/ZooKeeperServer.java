package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One ZooKeeper server as one runs it: writes are forced to the disk before they are answered. */
final class ZooKeeperServer implements AutoCloseable {

  private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
  private static final int PATIENCE_MILLIS = 10_000;

  private final Child child;
  private final int port;

  private ZooKeeperServer(Child child, int port) {
    this.child = child;
    this.port = port;
  }

  /** Starts a server alone. */
  static ZooKeeperServer start(Jvms jvms, Path directory) throws IOException, InterruptedException {
    return start(jvms, directory, Jvms.ZOOKEEPER_FLAGS);
  }

  /** Starts a server alone, with other flags of its JVM. */
  static ZooKeeperServer start(Jvms jvms, Path directory, List<String> flags)
      throws IOException, InterruptedException {
    ZooKeeperServer server = launch(jvms, directory, flags, Ports.free(), 0, List.of());
    server.awaitAnswers();
    return server;
  }

  /** Starts a member of an ensemble and waits for nothing. */
  static ZooKeeperServer launch(Jvms jvms, Path directory, int port, int id, List<String> ensemble)
      throws IOException {
    return launch(jvms, directory, Jvms.ZOOKEEPER_FLAGS, port, id, ensemble);
  }

  private static ZooKeeperServer launch(
      Jvms jvms, Path directory, List<String> jvmFlags, int port, int id, List<String> ensemble)
      throws IOException {
    Path data = Files.createDirectories(directory.resolve("data"));
    if (id > 0) {
      Files.writeString(data.resolve("myid"), Integer.toString(id));
    }
    List<String> lines =
        new ArrayList<>(
            List.of(
                "tickTime=2000",
                "initLimit=10",
                "syncLimit=5",
                "maxClientCnxns=0",
                "clientPortAddress=127.0.0.1",
                "admin.enableServer=false",
                "4lw.commands.whitelist=srvr,mntr",
                "dataDir=" + data,
                "clientPort=" + port));
    lines.addAll(ensemble);
    Path file = Files.write(directory.resolve("zoo.cfg"), lines);
    List<String> flags = new ArrayList<>(jvmFlags);
    flags.add("-Dzookeeper.forceSync=yes");
    List<String> command = jvms.command("zookeeper", flags, MAIN, List.of(file.toString()));
    String name = id > 0 ? "zookeeper-" + id : "zookeeper";
    return new ZooKeeperServer(Child.start(name, directory, command), port);
  }

  /** Waits until the server serves. */
  void awaitAnswers() throws IOException, InterruptedException {
    child.await("serving", () -> ask("srvr").contains("Mode:"));
  }

  /** Returns the server's process. */
  Child child() {
    return child;
  }

  /** Returns its port. */
  int port() {
    return port;
  }

  /** Returns what a client connects to. */
  String address() {
    return "127.0.0.1:" + port;
  }

  /** Returns how many transactions there have been. */
  long transactions() throws IOException {
    return transactions(ask("srvr"));
  }

  /** Reads the same from an answer to {@code srvr}. */
  static long transactions(String srvr) {
    // The counter; the epoch above it does not change while a lone server runs.
    return Long.parseLong(field(srvr, "Zxid: 0x"), 16) & 0xffff_ffffL;
  }

  /** Returns how many nodes there are. */
  long nodes() throws IOException {
    return Long.parseLong(field(ask("srvr"), "Node count: "));
  }

  /** Returns how many events of creations and deletions this server has sent to watches. */
  long watchEvents() throws IOException {
    return watchEvents(ask("mntr"));
  }

  /** Reads the same from an answer to {@code mntr}. */
  static long watchEvents(String mntr) {
    return Long.parseLong(field(mntr, "zk_sum_node_created_watch_count"))
        + Long.parseLong(field(mntr, "zk_sum_node_deleted_watch_count"));
  }

  private static String field(String answer, String name) {
    return answer
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()).strip())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no " + name + " in: " + answer));
  }

  /** Asks one of ZooKeeper's four-letter words; empty if nobody answers, as while it starts. */
  private String ask(String word) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (SocketException | SocketTimeoutException notYet) {
      return "";
    }
  }

  @Override
  public void close() {
    child.close();
  }
}
