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
import java.util.stream.Stream;

/** Three coordinators on an ensemble of three ZooKeepers, with one load on all of them. */
final class Cluster implements AutoCloseable {

  /** How many coordinators there are, and how many ZooKeepers. */
  static final int SIZE = 3;

  private final Jvms jvms;
  private final Path directory;
  private final Deque<Runnable> open = new ArrayDeque<>();
  private final List<ZooKeeperServer> ensemble = new ArrayList<>();
  private final List<Coordinator> coordinators = new ArrayList<>();

  private Cluster(Jvms jvms, Path directory) {
    this.jvms = jvms;
    this.directory = directory;
  }

  /** Starts all servers. */
  static Cluster start(Settings settings, Jvms jvms, Path directory)
      throws IOException, InterruptedException {
    Cluster cluster = new Cluster(jvms, directory);
    try {
      cluster.startEnsemble();
      cluster.startCoordinators(settings.coordinatorFlags());
      return cluster;
    } catch (IOException | InterruptedException e) {
      cluster.close();
      throw e;
    }
  }

  private void startEnsemble() throws IOException, InterruptedException {
    List<String> members = new ArrayList<>();
    for (int id = 1; id <= SIZE; id++) {
      members.add("server." + id + "=127.0.0.1:" + Ports.free() + ":" + Ports.free());
    }
    for (int id = 1; id <= SIZE; id++) {
      Path home = Files.createDirectories(directory.resolve("zookeeper-" + id));
      ZooKeeperServer server = ZooKeeperServer.launch(jvms, home, Ports.free(), id, members);
      open.push(server::close);
      ensemble.add(server);
    }
    for (ZooKeeperServer server : ensemble) {
      server.awaitAnswers();
    }
  }

  private void startCoordinators(List<String> flags) throws IOException, InterruptedException {
    for (int i = 0; i < SIZE; i++) {
      // Each begins at another server, as they would on three machines.
      String address =
          Stream.iterate(i, k -> k + 1)
              .limit(SIZE)
              .map(k -> ensemble.get(k % SIZE).address())
              .collect(Collectors.joining(","));
      String name = "coordinator-" + (i + 1);
      Coordinator one = Coordinator.start(jvms, name, directory.resolve(name), address, flags);
      open.push(one::close);
      coordinators.add(one);
    }
  }

  /** Starts a load whose connections are spread over all coordinators. */
  Scene startLoad(int connections) throws IOException {
    String servers =
        coordinators.stream().map(Coordinator::address).collect(Collectors.joining(","));
    LoadProcess load =
        LoadProcess.start(
            jvms,
            "load-cluster",
            directory,
            "lockkeeper",
            LoadProcess.LOCKKEEPER,
            List.of("lockkeeper", servers, Integer.toString(connections)));
    open.push(load::close);
    List<Child> children =
        Stream.concat(
                ensemble.stream().map(ZooKeeperServer::child),
                coordinators.stream().map(Coordinator::child))
            .toList();
    return new Scene(Subject.LOCKKEEPER.label(), load, children, Optional.of(ensemble.get(0)));
  }

  /** Returns how many events the ensemble has sent to watches of creations and deletions so far. */
  long events() throws IOException {
    long events = 0;
    for (ZooKeeperServer server : ensemble) {
      events += server.watchEvents();
    }
    return events;
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
