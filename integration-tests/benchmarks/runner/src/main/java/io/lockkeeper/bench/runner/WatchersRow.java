package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import io.lockkeeper.bench.load.Report;
import java.io.IOException;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** What a thousand watchers of busy locks cost those who lock. */
final class WatchersRow extends OwnRow {

  private static final int WATCHERS = 1_000;
  private static final int STOPPED = 100;
  private static final int CLIENTS = 64;
  private static final long SETTLING_MILLIS = 3_000;
  private static final String PREFIX = "bench/";
  private static final String LOAD = "io.lockkeeper.bench.lockkeeper.WatchersLoad";

  WatchersRow() {
    super("watchers-1k");
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    Coordinator coordinator = stage.coordinator();
    Scene scene = stage.scene(Subject.LOCKKEEPER);
    Order order = new Order(Shape.OWN, CLIENTS, settings.rampMillis(), settings.millis(), 0, 0);
    Order settling = new Order(Shape.OWN, CLIENTS, 0, SETTLING_MILLIS, 0, 0);
    try (TalkingJvm load = stage.talk("watchers", LOAD, coordinator.address())) {
      watch(load);
      double unusedSeconds = WarmUp.warm(scene, Shape.OWN, CLIENTS, settings);
      end(load);
      for (List<Boolean> round :
          Rounds.of(List.of(true, false), settings.rounds(), settings.seed())) {
        for (boolean watched : round) {
          if (watched) {
            watch(load);
          }
          // What a new watch is told first, of every lock, is not what busy locks cost later.
          Report unused = scene.warmUp(settling);
          results.add(label(), watched ? "watched" : "unwatched", scene.measure(order));
          end(load);
        }
      }
      results.figure(
          label(), "events read by all watchers", load.ask("status").get("events").asLong());
      measureStopped(coordinator, scene, order, load, results);
    }
    results.ratio(
        label() + "/without",
        results.median(label(), "watched") / results.median(label(), "unwatched"));
  }

  private static void watch(TalkingJvm load) throws IOException {
    JsonNode unused = load.ask("watch " + WATCHERS + " " + PREFIX);
  }

  private static void end(TalkingJvm load) throws IOException {
    JsonNode status = load.ask("end");
    if (status.get("failures").asLong() > 0) {
      throw new IOException("watches have ended: " + status);
    }
  }

  private void measureStopped(
      Coordinator coordinator, Scene scene, Order order, TalkingJvm load, Results results)
      throws IOException {
    long pid = coordinator.child().pid();
    long before = Heap.liveBytes(pid);
    load.ask("stop " + STOPPED + " " + PREFIX);
    Report unused = scene.warmUp(order);
    results.figure(
        label(),
        "coordinator heap bytes a stopped watcher",
        (double) (Heap.liveBytes(pid) - before) / STOPPED);
    load.ask("end");
  }
}
