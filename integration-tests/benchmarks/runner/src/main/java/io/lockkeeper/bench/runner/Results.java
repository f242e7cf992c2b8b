package io.lockkeeper.bench.runner;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All that was measured: samples by row and system, and single figures by row. */
final class Results {

  private final Map<String, Map<String, List<Sample>>> samples = new LinkedHashMap<>();
  private final Map<String, Map<String, Object>> figures = new LinkedHashMap<>();
  private final Map<String, Double> ratios = new LinkedHashMap<>();

  /** Adds a round of a system in a row. */
  void add(String row, String system, Sample sample) {
    samples
        .computeIfAbsent(row, r -> new LinkedHashMap<>())
        .computeIfAbsent(system, s -> new ArrayList<>())
        .add(sample);
  }

  /** Sets something that is not a round: a number, or a list of them. */
  void figure(String row, String name, Object value) {
    figures.computeIfAbsent(row, r -> new LinkedHashMap<>()).put(name, value);
  }

  /** Sets a ratio, or another figure that a floor may be about. */
  void ratio(String name, double value) {
    ratios.put(name, value);
  }

  /** Returns the summaries of a row's systems, in the order in which systems are listed. */
  Map<String, Summary> summaries(String row) {
    Map<String, Summary> summaries = new LinkedHashMap<>();
    Map<String, List<Sample>> systems = samples.getOrDefault(row, Map.of());
    for (Subject subject : Subject.values()) {
      Optional.ofNullable(systems.get(subject.label()))
          .ifPresent(rounds -> summaries.put(subject.label(), Summary.of(rounds)));
    }
    systems.forEach((system, rounds) -> summaries.computeIfAbsent(system, s -> Summary.of(rounds)));
    return summaries;
  }

  /** Returns the median throughput of a system in a row. */
  double median(String row, String system) {
    return summary(row, system).cyclesPerSecond().median();
  }

  /** Returns the median latency of an acquire of a system in a row, in microseconds. */
  double acquireMicros(String row, String system) {
    return summary(row, system).p50Micros().median();
  }

  private Summary summary(String row, String system) {
    return Optional.ofNullable(summaries(row).get(system))
        .orElseThrow(() -> new IllegalArgumentException("not measured: " + row + " " + system));
  }

  /** Returns the rows that have samples. */
  List<String> rows() {
    return List.copyOf(samples.keySet());
  }

  /** Returns single figures by row. */
  Map<String, Map<String, Object>> figures() {
    return figures;
  }

  /** Returns all ratios: those set, and those of compared rows. */
  Map<String, Double> ratios() {
    Map<String, Double> all = new LinkedHashMap<>();
    for (ComparedRow row : ComparedRow.values()) {
      all.putAll(Ratios.of(row, summaries(row.label())));
    }
    all.putAll(ratios);
    return all;
  }
}
