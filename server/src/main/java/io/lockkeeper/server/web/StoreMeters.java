package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.StoreObserver;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;

/** Times what ZooKeeper takes. Thread-safe. */
public final class StoreMeters implements StoreObserver {

  private final Timer commits;
  private final DistributionSummary batches;
  private final Timer mirrored;
  private final Timer rebuilt;

  /** Registers the histograms. */
  public StoreMeters(MeterRegistry registry) {
    commits =
        Timer.builder("lockkeeper.zookeeper.commit")
            .description("Time from sending a transaction to the answer that it is committed")
            .serviceLevelObjectives(Buckets.ofMachine())
            .register(registry);
    batches =
        DistributionSummary.builder("lockkeeper.zookeeper.batch.writes")
            .description("Writes that one committed transaction carried")
            .serviceLevelObjectives(Buckets.ofCounts())
            .register(registry);
    mirrored =
        Timer.builder("lockkeeper.mirror.lag")
            .description("Time from the answer to a creation until the mirror has shown it")
            .serviceLevelObjectives(Buckets.ofMachine())
            .register(registry);
    rebuilt =
        Timer.builder("lockkeeper.mirror.rebuild")
            .description("Time that reading all queues back has taken")
            .register(registry);
  }

  @Override
  public void onCommitted(int writes, long nanos) {
    commits.record(nanos, TimeUnit.NANOSECONDS);
    batches.record(writes);
  }

  @Override
  public void onMirrored(long nanos) {
    mirrored.record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void onRebuilt(long nanos) {
    rebuilt.record(nanos, TimeUnit.NANOSECONDS);
  }
}
