package io.lockkeeper.bench.runner;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a ratio must be.
 *
 * @param isCeiling whether the ratio must not be above the limit, rather than not below it
 */
record Floor(String ratio, double limit, boolean isCeiling) {

  /** All floors. */
  static final List<Floor> ALL =
      List.of(
          atMost("own-1/curator", 1.4),
          atLeast("own-64/curator", 2.5),
          atLeast("own-256/curator", 4),
          atLeast("own-256/raw-async", 2),
          atLeast("own-256/redisson", 2),
          atLeast("own-256/etcd", 5),
          atLeast("own-1024/curator", 8),
          atLeast("hot-64/curator", 5),
          atLeast("hot-64/redisson-fair", 4),
          atLeast("hot-64/etcd", 8),
          atLeast("hot-64/ping-pong", 0.7),
          atLeast("names/own-256", 0.75),
          atMost("queue-10k/last-to-first", 1.5),
          atMost("queue-10k/heap-bytes-a-waiter", 4096),
          atMost("leases-50k/cores", 0.5),
          atLeast("watchers-1k/without", 0.8),
          atLeast("own-256/mirrored-multi", 0.85),
          atLeast("own-1024/mirrored-multi", 0.7),
          atMost("kept-1/acquire-micros", 5),
          atLeast("kept-256/redisson", 20),
          atMost("kept-alternating/plain", 1.5),
          atLeast("tls-256/tls", 0.8),
          atLeast("policy-256/mutual-tls", 0.8),
          atLeast("hostile/throughput", 0.75),
          atMost("hostile/latency", 1.25));

  /** A floor that was measured. */
  record Outcome(Floor floor, double measured) {

    /** Returns whether the ratio is on the right side of the limit. */
    boolean isMet() {
      return floor.isCeiling ? measured <= floor.limit : measured >= floor.limit;
    }
  }

  static Floor atLeast(String ratio, double limit) {
    return new Floor(ratio, limit, false);
  }

  static Floor atMost(String ratio, double limit) {
    return new Floor(ratio, limit, true);
  }

  /** Returns the outcome of every floor whose ratio was measured. */
  static List<Outcome> outcomes(Map<String, Double> ratios) {
    return ALL.stream()
        .flatMap(
            floor ->
                Optional.ofNullable(ratios.get(floor.ratio)).stream()
                    .map(measured -> new Outcome(floor, measured)))
        .toList();
  }
}
