package io.lockkeeper.server.web;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Occurrence;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How long acquisitions wait and hold, by namespace: the first segment of the name of their first
 * lock. Clients choose names, so only the first {@value #MAX_NAMESPACES} namespaces that are seen
 * have series of their own. On the event loop only.
 */
final class NamespaceTimes {

  /** How many namespaces have series of their own; all others share {@value #OTHER}. */
  static final int MAX_NAMESPACES = 50;

  /** The namespace of those that came too late, or whose name is too long for a label. */
  static final String OTHER = "other";

  /** The namespace of locks whose names have one segment only. */
  static final String FLAT = "flat";

  /** How many characters the name of a namespace may have. */
  static final int MAX_CHARS = 64;

  private final MeterRegistry registry;
  private final Map<String, Series> namespaces = new HashMap<>();
  private final Series other;

  NamespaceTimes(MeterRegistry registry) {
    this.registry = registry;
    this.other = new Series(OTHER);
    namespaces.put(OTHER, other);
    namespaces.put(FLAT, new Series(FLAT));
    // So that both are there before anything was measured.
    var unusedWaits = other.waits("granted");
    var unusedHolds = other.holds("given_up");
  }

  /** The series of one namespace, each made when it is needed first. */
  private final class Series {
    private final String namespace;
    private final Map<String, Timer> waits = new HashMap<>();
    private final Map<String, Timer> holds = new HashMap<>();

    Series(String namespace) {
      this.namespace = namespace;
    }

    Timer waits(String outcome) {
      return waits.computeIfAbsent(
          outcome,
          key ->
              timer(
                  "lockkeeper.wait",
                  "How long acquisitions waited, from the request to the grant or the refusal",
                  "outcome",
                  key));
    }

    Timer holds(String end) {
      return holds.computeIfAbsent(
          end,
          key ->
              timer(
                  "lockkeeper.hold",
                  "How long acquisitions were held, from the grant to their end",
                  "end",
                  key));
    }

    private Timer timer(String name, String description, String label, String value) {
      return Timer.builder(name)
          .description(description)
          .tag("namespace", namespace)
          .tag(label, value)
          .serviceLevelObjectives(Buckets.ofClients())
          .register(registry);
    }
  }

  /** Measures how long something waited that was granted or refused. */
  void waited(Occurrence occurrence, String outcome) {
    if (occurrence.waitedNanos().isPresent()) {
      of(occurrence.command())
          .waits(outcome)
          .record(occurrence.waitedNanos().getAsLong(), TimeUnit.NANOSECONDS);
    }
  }

  /** Measures how long something was held that has ended. */
  void held(Occurrence occurrence, String end) {
    if (occurrence.heldNanos().isPresent()) {
      of(occurrence.command())
          .holds(end)
          .record(occurrence.heldNanos().getAsLong(), TimeUnit.NANOSECONDS);
    }
  }

  private Series of(AcquireCommand command) {
    String name = command.locks().get(0).name().value();
    int slash = name.indexOf('/');
    String namespace = slash < 0 ? FLAT : name.substring(0, slash);
    Series known = namespaces.get(namespace);
    if (known != null) {
      return known;
    }
    // Two are there from the start.
    if (namespaces.size() - 2 >= MAX_NAMESPACES || namespace.length() > MAX_CHARS) {
      return other;
    }
    Series made = new Series(namespace);
    namespaces.put(namespace, made);
    return made;
  }
}
