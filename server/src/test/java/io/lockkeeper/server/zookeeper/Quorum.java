package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** Three servers that make one ensemble. */
final class Quorum implements AutoCloseable {

  private static final int SERVERS = 3;

  private final List<ZooKeeperProcess> servers = new ArrayList<>();

  private Quorum() {}

  static Quorum in(Path directory) throws IOException {
    Quorum quorum = new Quorum();
    List<String> addresses = new ArrayList<>();
    for (int i = 0; i < SERVERS; i++) {
      addresses.add("127.0.0.1:" + Ports.free() + ":" + Ports.free());
    }
    for (int i = 0; i < SERVERS; i++) {
      Path own = directory.resolve("server" + i);
      Files.createDirectories(own.resolve("data"));
      Files.writeString(own.resolve("data/myid"), Integer.toString(i + 1));
      // Ticks of 200 ms: a starved server stays in the ensemble for 20 seconds.
      ZooKeeperProcess.Builder builder =
          ZooKeeperProcess.in(own)
              .configuration("initLimit", "100")
              .configuration("syncLimit", "100");
      for (int j = 0; j < SERVERS; j++) {
        builder.configuration("server." + (j + 1), addresses.get(j));
      }
      quorum.servers.add(builder.build());
    }
    // None of them answers before there are two.
    quorum.servers.stream()
        .map(server -> CompletableFuture.runAsync(server::start))
        .toList()
        .forEach(CompletableFuture::join);
    return quorum;
  }

  String connectString() {
    return servers.stream().map(ZooKeeperProcess::connectString).collect(Collectors.joining(","));
  }

  /** Returns the leader. */
  ZooKeeperProcess leader() {
    return Awaitility.await("leader")
        .ignoreExceptions()
        .until(
            () -> servers.stream().filter(s -> s.ask("srvr").contains("Mode: leader")).findFirst(),
            java.util.Optional::isPresent)
        .orElseThrow();
  }

  /** Returns a server that is not the leader. */
  ZooKeeperProcess follower() {
    ZooKeeperProcess leader = leader();
    return servers.stream().filter(server -> server != leader).findFirst().orElseThrow();
  }

  @Override
  public void close() {
    servers.forEach(ZooKeeperProcess::close);
  }
}
