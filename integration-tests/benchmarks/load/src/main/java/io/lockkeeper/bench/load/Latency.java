package io.lockkeeper.bench.load;

import org.HdrHistogram.Histogram;

/**
 * How long something took, in microseconds.
 *
 * @param count how many were measured
 */
public record Latency(
    long count, double p50, double p90, double p99, double p999, double max, double mean) {

  /** Nothing was measured. */
  public static final Latency NONE = new Latency(0, 0, 0, 0, 0, 0, 0);

  private static final double NANOS_PER_MICRO = 1e3;

  /** Reads a histogram of nanoseconds. */
  public static Latency of(Histogram nanos) {
    if (nanos.getTotalCount() == 0) {
      return NONE;
    }
    return new Latency(
        nanos.getTotalCount(),
        micros(nanos, 50),
        micros(nanos, 90),
        micros(nanos, 99),
        micros(nanos, 99.9),
        nanos.getMaxValue() / NANOS_PER_MICRO,
        nanos.getMean() / NANOS_PER_MICRO);
  }

  private static double micros(Histogram nanos, double percentile) {
    return nanos.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
  }
}
