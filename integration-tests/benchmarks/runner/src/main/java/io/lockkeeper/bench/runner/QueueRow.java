package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/** Many wait for one lock or for some, and then one after the other has it. */
final class QueueRow extends OwnRow {

  private static final int WARM_UP_WAITERS = 2_000;
  private static final int THOUSAND = 1_000;
  private static final int MOST_ROUNDS = 3;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final String LOAD = "io.lockkeeper.bench.lockkeeper.QueueLoad";

  private final int locks;
  private final int waiters;

  private QueueRow(String label, int locks, int waiters, boolean ofGrowth) {
    super(label, ofGrowth);
    this.locks = locks;
    this.waiters = waiters;
  }

  /** As many as may wait for one lock: the holder has a place in the queue, too. */
  static QueueRow ofOneLock() {
    return new QueueRow("queue-10k", 1, 9_999, false);
  }

  /** A hundred thousand who wait for a hundred locks. */
  static QueueRow ofHundredLocks() {
    return new QueueRow("waiters-100k", 100, 100_000, true);
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    Coordinator coordinator = stage.coordinator();
    List<Double> first = new ArrayList<>();
    List<Double> last = new ArrayList<>();
    List<Double> bytes = new ArrayList<>();
    List<Double> perThousand = new ArrayList<>();
    try (TalkingJvm load = stage.talk("queue", LOAD, coordinator.address())) {
      load.ask("queue " + WARM_UP_WAITERS + " " + locks);
      load.ask("drain");
      for (int i = 0; i < Math.min(MOST_ROUNDS, settings.rounds()); i++) {
        long before = Heap.liveBytes(coordinator.child().pid());
        long startNanos = System.nanoTime();
        load.ask("queue " + waiters + " " + locks);
        results.figure(
            label(), "waitersQueuedASecond", waiters / ((System.nanoTime() - startNanos) / 1e9));
        long with = Heap.liveBytes(coordinator.child().pid());
        bytes.add((double) (with - before) / waiters);
        List<Double> micros = micros(load.ask("drain"));
        first.add(Statistics.median(micros.subList(0, THOUSAND)));
        last.add(Statistics.median(micros.subList(micros.size() - THOUSAND, micros.size())));
        perThousand = thousands(micros);
      }
    }
    double firstMicros = Statistics.median(first);
    double lastMicros = Statistics.median(last);
    results.figure(label(), "waiters", waiters);
    results.figure(label(), "microsAGrantInTheFirstThousand", firstMicros);
    results.figure(label(), "microsAGrantInTheLastThousand", lastMicros);
    results.figure(label(), "coordinatorHeapBytesAWaiter", Statistics.median(bytes));
    results.figure(label(), "meanMicrosAGrantByThousand", perThousand);
    results.ratio(label() + "/last-to-first", lastMicros / firstMicros);
    results.ratio(label() + "/heap-bytes-a-waiter", Statistics.median(bytes));
  }

  private static List<Double> micros(JsonNode nanos) {
    List<Double> micros = new ArrayList<>();
    nanos.forEach(interval -> micros.add(interval.asLong() / NANOS_PER_MICRO));
    return micros;
  }

  private static List<Double> thousands(List<Double> micros) {
    return IntStream.iterate(0, start -> start < micros.size(), start -> start + THOUSAND)
        .mapToObj(start -> micros.subList(start, Math.min(micros.size(), start + THOUSAND)))
        .map(part -> part.stream().mapToDouble(Double::doubleValue).average().orElseThrow())
        .toList();
  }
}
