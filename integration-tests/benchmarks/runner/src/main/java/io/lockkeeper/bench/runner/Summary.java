package io.lockkeeper.bench.runner;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * All rounds of one system in one row.
 *
 * @param cyclesPerSecond how many acquires with their releases
 * @param p50Micros the middle latency of an acquire, of each round
 * @param p99Micros the latency that one of a hundred acquires exceeds, of each round
 * @param cpuPerThousand medians of the seconds of processor for 1,000 cycles, by process
 * @param transactionsPerCycle the median; NaN where there is no ZooKeeper
 */
record Summary(
    Statistics cyclesPerSecond,
    Statistics p50Micros,
    Statistics p99Micros,
    Map<String, Double> cpuPerThousand,
    double transactionsPerCycle,
    List<Sample> rounds) {

  /** Sums up rounds; there must be one at least. */
  static Summary of(List<Sample> rounds) {
    Map<String, Double> cpu = new LinkedHashMap<>();
    for (String process : rounds.get(0).cpuPerThousand().keySet()) {
      cpu.put(process, over(rounds, s -> of(s.cpuPerThousand(), process)).median());
    }
    return new Summary(
        over(rounds, Sample::cyclesPerSecond),
        over(rounds, sample -> sample.acquire().p50()),
        over(rounds, sample -> sample.acquire().p99()),
        cpu,
        over(rounds, Sample::transactionsPerCycle).median(),
        List.copyOf(rounds));
  }

  private static double of(Map<String, Double> cpu, String process) {
    return Objects.requireNonNull(cpu.get(process));
  }

  private static Statistics over(List<Sample> rounds, ToDoubleFunction<Sample> figure) {
    return Statistics.of(rounds.stream().map(figure::applyAsDouble).toList());
  }
}
