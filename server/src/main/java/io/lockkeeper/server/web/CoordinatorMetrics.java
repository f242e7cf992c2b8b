package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus.SessionStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/**
 * Gauges of how the coordinator is. The names of locks, leases and sessions are never labels:
 * clients choose how many there are.
 */
final class CoordinatorMetrics {

  private static final double NANOS_PER_SECOND = 1e9;

  private final Coordinator coordinator;
  private volatile CoordinatorStatus status;

  CoordinatorMetrics(Coordinator coordinator, long sessionPathBytesCap, MeterRegistry registry) {
    this.coordinator = coordinator;
    this.status = coordinator.status();
    queues(registry);
    extremes(registry);
    sessions(registry, sessionPathBytesCap);
  }

  /** Looks at the coordinator once, so that all gauges of one scrape agree. */
  void refresh() {
    status = coordinator.status();
  }

  private void queues(MeterRegistry registry) {
    gauge(registry, "serving", "1 if requests for locks can be served", s -> flag(s.serving()));
    gauge(
        registry,
        "mirror.current",
        "1 if the mirror of the queues is whole, so that grants can be made",
        s -> flag(s.mirrorCurrent()));
    gauge(registry, "leases", "Open leases", CoordinatorStatus::leases);
    gauge(
        registry,
        "acquisitions",
        "Acquisitions that wait or hold",
        CoordinatorStatus::acquisitions);
    gauge(registry, "acquisitions.held", "Acquisitions that hold", CoordinatorStatus::held);
    gauge(registry, "locks", "Locks in use", CoordinatorStatus::locks);
    gauge(registry, "entries", "Entries in the mirror", CoordinatorStatus::entries);
    gauge(registry, "watches", "Open watches", CoordinatorStatus::watches);
    gauge(
        registry,
        "streams",
        "Streams that hear of acquisitions and leases",
        CoordinatorStatus::streams);
    gauge(
        registry,
        "deletes.owed",
        "Acquisitions with entries whose deletion is not certain yet",
        CoordinatorStatus::deletesOwed);
    gauge(
        registry,
        "loop.delay.seconds",
        "How long the event loop's last event had waited",
        s -> s.loopDelayNanos() / NANOS_PER_SECOND);
    gauge(
        registry,
        "coordinators",
        "Coordinators that are alive, this one included, as far as it knows",
        CoordinatorStatus::coordinators);
  }

  private void extremes(MeterRegistry registry) {
    gauge(
        registry,
        "queue.longest",
        "Entries in the longest queue, holders included",
        s -> s.extremes().longestQueue());
    gauge(
        registry,
        "oldest.hold.seconds",
        "How long the oldest hold has lasted, as far as this coordinator has seen",
        s -> s.extremes().oldestHoldNanos() / NANOS_PER_SECOND);
    gauge(
        registry,
        "oldest.wait.seconds",
        "How long whoever is next at some lock has waited at most, as far as this coordinator has seen",
        s -> s.extremes().oldestWaitNanos() / NANOS_PER_SECOND);
  }

  private void sessions(MeterRegistry registry, long cap) {
    gauge(registry, "sessions", "Lock sessions", s -> s.sessions().size());
    gauge(
        registry,
        "sessions.usable",
        "Lock sessions that are connected and proved alive",
        s -> s.sessions().stream().filter(SessionStatus::usable).count());
    gauge(
        registry,
        "session.path.bytes",
        "Bytes of paths that all lock sessions own",
        s -> s.sessions().stream().mapToLong(SessionStatus::pathBytes).sum());
    gauge(
        registry,
        "session.path.bytes.largest",
        "Bytes of paths that the fullest lock session owns; far above the cap ZooKeeper itself is in danger",
        s -> s.sessions().stream().mapToLong(SessionStatus::pathBytes).max().orElse(0));
    gauge(
        registry,
        "session.path.bytes.cap",
        "Bytes of paths that one lock session may own",
        s -> cap);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      String description,
      ToDoubleFunction<CoordinatorStatus> value) {
    Gauge.builder("lockkeeper." + name, this, metrics -> value.applyAsDouble(metrics.status))
        .description(description)
        .strongReference(true)
        .register(registry);
  }

  private static double flag(boolean value) {
    return value ? 1 : 0;
  }
}
