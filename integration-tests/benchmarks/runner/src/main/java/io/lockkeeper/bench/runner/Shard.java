package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** A ZooKeeper, a coordinator and their load, which share nothing with any other shard. */
final class Shard implements AutoCloseable {

  private final Deque<Runnable> open = new ArrayDeque<>();
  private Optional<Scene> scene = Optional.empty();

  private Shard() {}

  /** Starts all three. */
  static Shard start(Settings settings, Jvms jvms, Path directory)
      throws IOException, InterruptedException {
    Shard shard = new Shard();
    try {
      shard.launch(settings, jvms, directory);
      return shard;
    } catch (IOException | InterruptedException e) {
      shard.close();
      throw e;
    }
  }

  private void launch(Settings settings, Jvms jvms, Path directory)
      throws IOException, InterruptedException {
    ZooKeeperServer zookeeper =
        ZooKeeperServer.start(jvms, Files.createDirectories(directory.resolve("zookeeper")));
    open.push(zookeeper::close);
    Coordinator coordinator =
        Coordinator.start(
            jvms,
            "coordinator",
            directory.resolve("coordinator"),
            zookeeper.address(),
            settings.coordinatorFlags());
    open.push(coordinator::close);
    LoadProcess load =
        LoadProcess.ofLibrary(
            jvms, "load", directory, coordinator.address(), settings.connections());
    open.push(load::close);
    scene =
        Optional.of(
            new Scene(
                Subject.LOCKKEEPER.label(),
                load,
                List.of(zookeeper.child(), coordinator.child()),
                Optional.of(zookeeper)));
  }

  /** Returns what runs. */
  Scene scene() {
    return scene.orElseThrow();
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
