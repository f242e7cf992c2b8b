package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.core.api.Notice;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts what clients are told: grants, losses and refusals by their reasons, never by the names of
 * locks, of which there are too many.
 */
public final class EventCounters implements CoordinatorObserver {

  private final Counter granted;
  private final Counter queued;
  private final Counter released;
  private final Counter jeopardy;
  private final Counter askedToRelease;
  private final Map<Notice.LossReason, Counter> lost = new EnumMap<>(Notice.LossReason.class);
  private final Map<Notice.RefusalReason, Counter> refused =
      new EnumMap<>(Notice.RefusalReason.class);
  private final Timer stalls;

  /**
   * Registers the counters, all at zero, so that a rate over them is right from the first event on.
   */
  public EventCounters(MeterRegistry registry) {
    granted = counter(registry, "lockkeeper.grants", "Acquisitions that were granted");
    queued = counter(registry, "lockkeeper.queued", "Acquisitions that had to wait");
    released = counter(registry, "lockkeeper.releases", "Held acquisitions that were released");
    jeopardy =
        counter(registry, "lockkeeper.jeopardies", "Holders told that ZooKeeper is out of reach");
    askedToRelease = counter(registry, "lockkeeper.release.requests", "Holders asked to give way");
    for (Notice.LossReason reason : Notice.LossReason.values()) {
      lost.put(
          reason,
          Counter.builder("lockkeeper.losses")
              .description("Held acquisitions that were lost")
              .tag("reason", reason.name().toLowerCase(Locale.ROOT))
              .register(registry));
    }
    for (Notice.RefusalReason reason : Notice.RefusalReason.values()) {
      refused.put(
          reason,
          Counter.builder("lockkeeper.not.acquired")
              .description("Acquisitions that ended without a grant")
              .tag("reason", reason.name().toLowerCase(Locale.ROOT))
              .register(registry));
    }
    stalls =
        Timer.builder("lockkeeper.stalls")
            .description("Pauses of the process of more than half a second")
            .register(registry);
  }

  private static Counter counter(MeterRegistry registry, String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  @Override
  public void onNotice(Notice notice) {
    if (notice instanceof Notice.Granted) {
      granted.increment();
    } else if (notice instanceof Notice.Queued) {
      queued.increment();
    } else if (notice instanceof Notice.Released) {
      released.increment();
    } else if (notice instanceof Notice.Jeopardy) {
      jeopardy.increment();
    } else if (notice instanceof Notice.ReleaseRequested) {
      askedToRelease.increment();
    } else if (notice instanceof Notice.Lost loss) {
      count(lost.get(loss.reason()));
    } else if (notice instanceof Notice.NotAcquired ending) {
      count(refused.get(ending.reason()));
    }
  }

  private static void count(@Nullable Counter counter) {
    if (counter != null) {
      counter.increment();
    }
  }

  @Override
  public void onStalled(long nanos) {
    stalls.record(nanos, TimeUnit.NANOSECONDS);
  }
}
