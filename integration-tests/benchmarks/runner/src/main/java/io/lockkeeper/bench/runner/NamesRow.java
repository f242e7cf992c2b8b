package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.util.List;

/** Every acquire asks for a lock that was never there before, beside clients that come back to theirs. */
final class NamesRow extends OwnRow {

  private static final int CLIENTS = 256;
  private static final long LONGEST_MILLIS = 120_000;
  // The reaper looks once a minute, and needs a while for what it finds.
  private static final int REAPER_SECONDS = 150;
  private static final String OWN = "own-256";
  private static final String NAMES = "names";

  NamesRow() {
    super(NAMES);
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    Scene scene = stage.scene(Subject.LOCKKEEPER);
    ZooKeeperServer zookeeper = stage.zookeeper();
    long pid = stage.coordinator().child().pid();
    long nodesBefore = zookeeper.nodes();
    long bytesBefore = Heap.liveBytes(pid);
    int cycles = Math.max(1, settings.names() / settings.rounds());
    Order own = new Order(Shape.OWN, CLIENTS, settings.rampMillis(), settings.millis(), 0, 0);
    long run = 0;
    for (List<String> round :
        Rounds.of(List.of(OWN, NAMES), settings.rounds(), settings.seed())) {
      for (String what : round) {
        run++;
        Order names = new Order(Shape.NAMES, CLIENTS, 0, LONGEST_MILLIS, cycles, run);
        results.add(label(), what, scene.measure(what.equals(OWN) ? own : names));
      }
    }
    results.ratio(
        label() + "/own-256", results.median(label(), NAMES) / results.median(label(), OWN));
    results.figure(label(), "names", cycles * settings.rounds());
    results.figure(label(), "znodes before", nodesBefore);
    results.figure(label(), "znodes at the end", zookeeper.nodes());
    results.figure(label(), "coordinator heap MiB before", mebibytes(bytesBefore));
    results.figure(label(), "coordinator heap MiB at the end", mebibytes(Heap.liveBytes(pid)));
    long startNanos = System.nanoTime();
    awaitReaper(zookeeper, nodesBefore + CLIENTS);
    results.figure(
        label(), "seconds until the reaper was done", (System.nanoTime() - startNanos) / 1e9);
    results.figure(label(), "znodes after the reaper", zookeeper.nodes());
    results.figure(
        label(), "coordinator heap MiB after the reaper", mebibytes(Heap.liveBytes(pid)));
  }

  private static void awaitReaper(ZooKeeperServer zookeeper, long enough)
      throws IOException, InterruptedException {
    for (int i = 0; i < REAPER_SECONDS && zookeeper.nodes() > enough; i++) {
      Pause.millis(1_000);
    }
  }

  private static double mebibytes(long bytes) {
    return bytes / (double) (1 << 20);
  }
}
