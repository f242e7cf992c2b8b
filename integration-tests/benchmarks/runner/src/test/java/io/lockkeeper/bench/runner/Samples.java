package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Latency;
import java.util.Map;

/** Samples for tests. */
final class Samples {

  private Samples() {}

  static Sample of(double cyclesPerSecond, double p50Micros) {
    return new Sample(
        cyclesPerSecond,
        new Latency(10, p50Micros, p50Micros, p50Micros, p50Micros, p50Micros, p50Micros),
        Map.of("load", 0.5),
        Double.NaN);
  }
}
