package io.lockkeeper.bench.runner;

import java.io.IOException;
import tools.jackson.databind.JsonNode;

/**
 * A million names, or NAMES, held at once, over as many coordinators as that takes: what they take,
 * and what becomes of them when a coordinator starts, when one is cut off for a moment, and when
 * one dies.
 */
final class HeldRow extends OwnRow {

  private static final String LOAD = "io.lockkeeper.bench.lockkeeper.HoldLoad";
  private static final int NAMES_OF_A_COORDINATOR = 200_000;
  private static final int HOSTS = 8;
  private static final int STEPS = 10;
  private static final int PATIENCE_SECONDS = 180;
  private static final double BYTES_OF_A_MEBIBYTE = 1 << 20;
  private static final String REBUILD_SECONDS = "lockkeeper_mirror_rebuild_seconds_sum";
  private static final String REBUILDS = "lockkeeper_mirror_rebuild_seconds_count";

  HeldRow() {
    super("held-1m", true);
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    try (Growth growth = stage.growth(coordinators(settings.names()));
        TalkingJvm load = growth.load(LOAD, growth.coordinators(), Integer.toString(HOSTS))) {
      JsonNode unused = load.ask("cycle");
      int tenth = settings.names() / STEPS;
      hold(tenth, tenth, growth, load, results);
      start(tenth, growth, load, results);
      hold(settings.names() - tenth, settings.names(), growth, load, results);
      start(settings.names(), growth, load, results);
      cut(growth, load, results);
      kill(growth, load, results);
      release(growth, load, results);
    }
  }

  private static int coordinators(int names) {
    return Math.max(2, (names + NAMES_OF_A_COORDINATOR - 1) / NAMES_OF_A_COORDINATOR);
  }

  private void note(int names, String what, Object value, Results results) {
    results.figure(label(), names + " names: " + what, value);
  }

  private void hold(int more, int names, Growth growth, TalkingJvm load, Results results)
      throws IOException {
    long startNanos = System.nanoTime();
    JsonNode answer = load.ask("hold " + more);
    double seconds = secondsSince(startNanos);
    if (!answer.get("refusal").asString().isEmpty()) {
      throw new IOException("refused: " + answer);
    }
    note(names, "names taken a second", more / seconds, results);
    note(names, "clients", answer.get("clients").asInt(), results);
    long pid = growth.coordinators().get(0).child().pid();
    note(names, "coordinator heap MiB", Heap.liveBytes(pid) / BYTES_OF_A_MEBIBYTE, results);
    long zookeeper = growth.zookeeper().child().pid();
    note(names, "ZooKeeper heap MiB", Heap.liveBytes(zookeeper) / BYTES_OF_A_MEBIBYTE, results);
    note(names, "znodes", growth.zookeeper().nodes(), results);
    status(names, "while they were taken", load, results);
  }

  private void status(int names, String when, TalkingJvm load, Results results) throws IOException {
    JsonNode status = load.ask("status");
    note(names, "held " + when, status.get("held").asLong(), results);
    note(names, "requests lost " + when, status.get("lost").asLong(), results);
    note(names, "requests in jeopardy " + when, status.get("jeopardies").asLong(), results);
    note(
        names,
        "longest cycle of another lock, ms, " + when,
        status.get("longestCycleMillis").asDouble(),
        results);
  }

  /** One coordinator more: it has all queues to read before it serves. */
  private void start(int names, Growth growth, TalkingJvm load, Results results)
      throws IOException, InterruptedException {
    JsonNode unused = load.ask("status");
    long startNanos = System.nanoTime();
    try (Coordinator fresh = growth.another("fresh-" + names)) {
      note(names, "seconds from the start to serving", secondsSince(startNanos), results);
      note(names, "seconds to read all queues", fresh.metric(REBUILD_SECONDS), results);
      results.ratio(label() + "/rebuild-" + names, fresh.metric(REBUILD_SECONDS));
    }
    status(names, "while one more started", load, results);
  }

  /** The first coordinator loses all connections to ZooKeeper, and what it has seen with them. */
  private void cut(Growth growth, TalkingJvm load, Results results)
      throws IOException, InterruptedException {
    Coordinator first = growth.coordinators().get(0);
    double seconds = first.metric(REBUILD_SECONDS);
    growth.relay().cut();
    awaitRebuild(first, results, "its connections were cut");
    results.ratio(label() + "/rebuild-after-cut", first.metric(REBUILD_SECONDS) - seconds);
    status(0, "after its connections were cut", load, results);
  }

  private void awaitRebuild(Coordinator one, Results results, String after)
      throws IOException, InterruptedException {
    double rebuilds = one.metric(REBUILDS);
    long startNanos = System.nanoTime();
    for (int i = 0; i < PATIENCE_SECONDS * 10 && one.metric(REBUILDS) == rebuilds; i++) {
      Pause.millis(100);
    }
    results.figure(
        label(), "seconds until the mirror was whole after " + after, secondsSince(startNanos));
  }

  private void kill(Growth growth, TalkingJvm load, Results results)
      throws IOException, InterruptedException {
    growth.coordinators().get(growth.coordinators().size() - 1).close();
    Pause.millis(30_000);
    status(0, "30 s after the death of a coordinator", load, results);
  }

  private void release(Growth growth, TalkingJvm load, Results results) throws IOException {
    long startNanos = System.nanoTime();
    int released = load.ask("release").asInt();
    results.figure(label(), "requests released a second", released / secondsSince(startNanos));
    results.figure(label(), "znodes after", growth.zookeeper().nodes());
  }

  private static double secondsSince(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e9;
  }
}
