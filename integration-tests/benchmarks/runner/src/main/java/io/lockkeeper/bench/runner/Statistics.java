package io.lockkeeper.bench.runner;

import java.util.Arrays;
import java.util.List;

/**
 * What several rounds of one measurement say together.
 *
 * @param mad the median of the distances from the median: how far a round usually is off
 */
record Statistics(double median, double min, double max, double mad) {

  /** Sums up rounds; there must be one at least. */
  static Statistics of(List<Double> rounds) {
    double median = median(rounds);
    return new Statistics(
        median,
        rounds.stream().mapToDouble(Double::doubleValue).min().orElseThrow(),
        rounds.stream().mapToDouble(Double::doubleValue).max().orElseThrow(),
        median(rounds.stream().map(round -> Math.abs(round - median)).toList()));
  }

  /** Returns the middle one, or the mean of the two in the middle. */
  static double median(List<Double> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("nothing has no median");
    }
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
