package io.lockkeeper.bench.runner;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Lockkeeper beside each other system: ratios of medians in one run. */
final class Ratios {

  private Ratios() {}

  /**
   * Returns the ratios of a row, each named after the row and the other system: of throughput, or
   * of the middle latency of an acquire where a row is about that.
   */
  static Map<String, Double> of(ComparedRow row, Map<String, Summary> systems) {
    Map<String, Double> ratios = new LinkedHashMap<>();
    Optional<Summary> ours = Optional.ofNullable(systems.get(Subject.LOCKKEEPER.label()));
    ours.ifPresent(
        own ->
            systems.forEach(
                (system, other) -> {
                  if (!system.equals(Subject.LOCKKEEPER.label())) {
                    ratios.put(row.label() + "/" + system, figure(row, own) / figure(row, other));
                  }
                }));
    return ratios;
  }

  private static double figure(ComparedRow row, Summary summary) {
    return (row.isByLatency() ? summary.p50Micros() : summary.cyclesPerSecond()).median();
  }
}
