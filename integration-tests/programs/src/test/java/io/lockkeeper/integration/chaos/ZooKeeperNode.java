package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.harness.Jar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One server of the ensemble: a process that can be killed, paused and started on its data. */
final class ZooKeeperNode {

  private static final int ANSWER_MILLIS = 2_000;

  private final int number;
  private final int clientPort;
  private final Path directory;
  private final List<String> command;
  private Child child;

  /** The ports of a server that its peers use. */
  record PeerPorts(int quorum, int election) {}

  ZooKeeperNode(Path directory, int number, int clientPort, List<PeerPorts> peers, Path hosts) {
    this.number = number;
    this.clientPort = clientPort;
    this.directory = directory;
    this.command = command(directory, hosts);
    write(peers);
    child = launch();
  }

  private static List<String> command(Path directory, Path hosts) {
    return List.of(
        Jar.JAVA,
        "-Xmx96m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Djdk.net.hosts.file=" + hosts,
        "-Dzookeeper.4lw.commands.whitelist=*",
        "-Dzookeeper.admin.enableServer=false",
        "-Dzookeeper.forceSync=no",
        "-Dzookeeper.preAllocSize=1024",
        "-cp",
        Child.classPath(),
        "io.lockkeeper.server.testing.ZooKeeperMain",
        directory.resolve("zoo.cfg").toString());
  }

  private void write(List<PeerPorts> peers) {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "tickTime=2000",
                "initLimit=5",
                "syncLimit=5",
                "maxClientCnxns=0",
                "clientPortAddress=127.0.0.1",
                "admin.enableServer=false",
                "clientPort=" + clientPort,
                "dataDir=" + directory.resolve("data")));
    for (int i = 0; i < peers.size(); i++) {
      PeerPorts ports = peers.get(i);
      int peer = i + 1;
      lines.add("server." + peer + "=zk-" + peer + ":" + ports.quorum() + ":" + ports.election());
    }
    try {
      Files.createDirectories(directory.resolve("data"));
      Files.writeString(directory.resolve("data").resolve("myid"), number + "\n");
      Files.write(directory.resolve("zoo.cfg"), lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Child launch() {
    return Child.start(command, directory.resolve("zookeeper.log"));
  }

  String name() {
    return "zk-" + number;
  }

  int clientPort() {
    return clientPort;
  }

  long pid() {
    return child.pid();
  }

  boolean isAlive() {
    return child.isAlive();
  }

  void kill() {
    child.kill();
  }

  /** Starts a dead server again. */
  void restart() {
    child = launch();
  }

  void pause() {
    child.signal("STOP");
  }

  void resume() {
    child.signal("CONT");
  }

  boolean isLeader() {
    return mode().contains("leader");
  }

  /** Returns whether it is part of a quorum. */
  boolean isServing() {
    String mode = mode();
    return mode.contains("leader") || mode.contains("follower");
  }

  private String mode() {
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), clientPort), ANSWER_MILLIS);
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return answer.lines().filter(line -> line.startsWith("Mode:")).findFirst().orElse("");
    } catch (IOException e) {
      return "";
    }
  }
}
