package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Notice.LossReason;
import io.lockkeeper.server.core.api.Occurrence;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times what clients are told: grants, losses and refusals by their reasons, never by
 * the names of locks, of which there are too many. What a client gives up by its own decision, by
 * releasing, cancelling or closing, is a release, and no loss.
 */
public final class EventCounters implements CoordinatorObserver {

  /** How a client gives up what it holds. */
  private enum GivenUp {
    /** It has released it. */
    RELEASED,
    /** It has cancelled the call that was the lease. */
    CANCELLED,
    /** It has closed the lease. */
    LEASE_CLOSED
  }

  private final Counter granted;
  private final Counter queued;
  private final Counter jeopardy;
  private final Counter askedToRelease;
  private final Counter contended;
  private final Map<GivenUp, Counter> releases = new EnumMap<>(GivenUp.class);
  private final Map<LossReason, Counter> losses = new EnumMap<>(LossReason.class);
  private final Map<Notice.RefusalReason, Counter> refused =
      new EnumMap<>(Notice.RefusalReason.class);
  private final Timer stalls;
  private final Timer handOffs;
  private final DistributionSummary positions;
  private final NamespaceTimes times;

  /**
   * Registers the counters, all at zero, so that a rate over them is right from the first event on.
   */
  public EventCounters(MeterRegistry registry) {
    granted = counter(registry, "lockkeeper.grants", "Acquisitions that were granted");
    queued = counter(registry, "lockkeeper.queued", "Acquisitions that had to wait");
    jeopardy =
        counter(registry, "lockkeeper.jeopardies", "Holders told that ZooKeeper is out of reach");
    askedToRelease = counter(registry, "lockkeeper.release.requests", "Holders asked to give way");
    contended =
        counter(
            registry, "lockkeeper.contentions", "Holders told, at their wish, that somebody waits");
    registerEndings(registry);
    stalls =
        Timer.builder("lockkeeper.stalls")
            .description("Pauses of the process of more than half a second")
            .register(registry);
    handOffs =
        Timer.builder("lockkeeper.hand.off")
            .description("Time from the end of a hold to the grant of the next that waited for it")
            .serviceLevelObjectives(Buckets.ofMachine())
            .register(registry);
    positions =
        DistributionSummary.builder("lockkeeper.queue.ahead")
            .description("Entries that were ahead of an acquisition when it was queued")
            .serviceLevelObjectives(Buckets.ofCounts())
            .register(registry);
    times = new NamespaceTimes(registry);
  }

  private void registerEndings(MeterRegistry registry) {
    for (GivenUp how : GivenUp.values()) {
      releases.put(
          how,
          Counter.builder("lockkeeper.releases")
              .description("Held acquisitions that their clients gave up, by how")
              .tag("how", key(how))
              .register(registry));
    }
    for (LossReason reason : LossReason.values()) {
      if (reason != LossReason.LEASE_CLOSED) {
        losses.put(
            reason,
            Counter.builder("lockkeeper.losses")
                .description("Held acquisitions that were lost, by why and by whose doing")
                .tag("reason", key(reason))
                .tag("by", causer(reason))
                .register(registry));
      }
    }
    for (Notice.RefusalReason reason : Notice.RefusalReason.values()) {
      refused.put(
          reason,
          Counter.builder("lockkeeper.not.acquired")
              .description("Acquisitions that ended without a grant, by why")
              .tag("reason", key(reason))
              .register(registry));
    }
  }

  private static String causer(LossReason reason) {
    return switch (reason) {
      case SESSION_LOST -> "service";
      case LEASE_EXPIRED, STREAM_BROKEN, LEASE_CLOSED -> "client";
      case FORCED, REMOVED, COORDINATOR_LEFT -> "operator";
      case MAX_HOLD -> "limit";
    };
  }

  private static Counter counter(MeterRegistry registry, String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  private static String key(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public void onOccurrence(Occurrence occurrence) {
    Notice notice = occurrence.notice();
    if (notice instanceof Notice.Granted) {
      granted.increment();
      times.waited(occurrence, "granted");
      occurrence.handOffNanos().ifPresent(nanos -> handOffs.record(nanos, TimeUnit.NANOSECONDS));
    } else if (notice instanceof Notice.Queued waiting) {
      queued.increment();
      positions.record(Notice.Place.most(waiting.places()));
    } else if (notice instanceof Notice.Released) {
      boolean cancelled = occurrence.end() == HoldEnd.CANCELLED;
      givenUp(occurrence, cancelled ? GivenUp.CANCELLED : GivenUp.RELEASED);
    } else if (notice instanceof Notice.Jeopardy) {
      jeopardy.increment();
    } else if (notice instanceof Notice.ReleaseRequested) {
      askedToRelease.increment();
    } else if (notice instanceof Notice.Contended) {
      contended.increment();
    } else if (notice instanceof Notice.Lost loss) {
      lost(occurrence, loss.reason());
    } else if (notice instanceof Notice.NotAcquired ending) {
      count(refused.get(ending.reason()));
      times.waited(occurrence, key(ending.reason()));
    }
  }

  private void lost(Occurrence occurrence, LossReason reason) {
    if (reason == LossReason.LEASE_CLOSED) {
      givenUp(occurrence, GivenUp.LEASE_CLOSED);
    } else {
      count(losses.get(reason));
      times.held(occurrence, "lost");
    }
  }

  private void givenUp(Occurrence occurrence, GivenUp how) {
    count(releases.get(how));
    times.held(occurrence, "given_up");
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
