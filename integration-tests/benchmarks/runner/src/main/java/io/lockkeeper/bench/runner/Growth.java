package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A ZooKeeper with much memory and coordinators on it, for what is large rather than fast. */
final class Growth implements AutoCloseable {

  private static final List<String> ZOOKEEPER_FLAGS = List.of("-Xmx5g");
  private static final List<String> LOAD_FLAGS = List.of("-Xmx4g");

  private final Settings settings;
  private final Jvms jvms;
  private final Path directory;
  private final Deque<Runnable> open = new ArrayDeque<>();
  private final List<Coordinator> coordinators = new ArrayList<>();
  private Optional<ZooKeeperServer> zookeeper = Optional.empty();
  private Optional<Relay> relay = Optional.empty();

  private Growth(Settings settings, Jvms jvms, Path directory) {
    this.settings = settings;
    this.jvms = jvms;
    this.directory = directory;
  }

  /** Starts all servers. */
  static Growth start(Settings settings, Jvms jvms, Path directory, int coordinators)
      throws IOException, InterruptedException {
    Growth growth = new Growth(settings, jvms, directory);
    try {
      growth.startZooKeeper();
      growth.startRelay();
      String through = growth.relay().address();
      growth.coordinators.add(growth.another("coordinator-1", through));
      for (int i = 2; i <= coordinators; i++) {
        growth.coordinators.add(growth.another("coordinator-" + i));
      }
      return growth;
    } catch (IOException | InterruptedException e) {
      growth.close();
      throw e;
    }
  }

  private void startZooKeeper() throws IOException, InterruptedException {
    Path home = Files.createDirectories(directory.resolve("zookeeper"));
    ZooKeeperServer server = ZooKeeperServer.start(jvms, home, ZOOKEEPER_FLAGS);
    open.push(server::close);
    zookeeper = Optional.of(server);
  }

  private void startRelay() throws IOException {
    Relay started = Relay.to(zookeeper().port());
    open.push(started::close);
    relay = Optional.of(started);
  }

  /** Starts one more coordinator and waits until it serves. */
  Coordinator another(String name) throws IOException, InterruptedException {
    return another(name, zookeeper().address());
  }

  private Coordinator another(String name, String address)
      throws IOException, InterruptedException {
    Coordinator one =
        Coordinator.start(
            jvms, name, directory.resolve(name), address, settings.coordinatorFlags());
    open.push(one::close);
    return one;
  }

  /** Starts a load with much memory on all coordinators, or on some; the caller ends it. */
  TalkingJvm load(String main, List<Coordinator> servers, String argument) throws IOException {
    String addresses = servers.stream().map(Coordinator::address).collect(Collectors.joining(","));
    return TalkingJvm.start(
        jvms, "load", directory, main, List.of(addresses, argument), LOAD_FLAGS);
  }

  /** Returns the way from the first coordinator to ZooKeeper. */
  Relay relay() {
    return relay.orElseThrow();
  }

  ZooKeeperServer zookeeper() {
    return zookeeper.orElseThrow();
  }

  List<Coordinator> coordinators() {
    return coordinators;
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
