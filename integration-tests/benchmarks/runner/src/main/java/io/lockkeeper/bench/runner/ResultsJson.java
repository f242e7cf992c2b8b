package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Latency;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Writes results for programs. */
final class ResultsJson {

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
  private static final double THOUSAND = 1e3;

  private ResultsJson() {}

  /**
   * Returns a run as JSON.
   *
   * @param about what is said of the run as a whole, first
   */
  static String of(Map<String, Object> about, Results results) {
    Map<String, Object> all = rounded(about);
    Map<String, Object> rows = new LinkedHashMap<>();
    for (String row : results.rows()) {
      Map<String, Object> systems = new LinkedHashMap<>();
      results.summaries(row).forEach((system, summary) -> systems.put(system, of(summary)));
      rows.put(row, systems);
    }
    all.put("rows", rows);
    all.put("figures", rounded(results.figures()));
    all.put("ratios", rounded(results.ratios()));
    List<Object> floors = new ArrayList<>();
    for (Floor.Outcome outcome : Floor.outcomes(results.ratios())) {
      Map<String, Object> floor = new LinkedHashMap<>();
      floor.put("ratio", outcome.floor().ratio());
      floor.put(outcome.floor().isCeiling() ? "atMost" : "atLeast", outcome.floor().limit());
      floor.put("measured", rounded(outcome.measured()));
      floor.put("met", outcome.isMet());
      floors.add(floor);
    }
    all.put("floors", floors);
    return JSON.writeValueAsString(all) + "\n";
  }

  /**
   * Returns a run with the rows of a later one in the place of its own. What is said of the later
   * run as a whole stands under {@code laterRuns}, by row.
   *
   * @param about the names of what is said of a run as a whole
   */
  static String merged(String earlier, String later, Set<String> about) {
    ObjectNode all = (ObjectNode) JSON.readTree(earlier);
    ObjectNode newer = (ObjectNode) JSON.readTree(later);
    Set<String> rows = new TreeSet<>(newer.get("rows").propertyNames());
    rows.addAll(newer.get("figures").propertyNames());
    for (String part : List.of("rows", "figures", "ratios")) {
      ObjectNode into = (ObjectNode) all.get(part);
      into.remove(into.propertyNames().stream().filter(n -> rows.contains(rowOf(n))).toList());
      into.setAll((ObjectNode) newer.get(part));
    }
    ArrayNode floors = (ArrayNode) all.get("floors");
    floors.removeIf(floor -> rows.contains(rowOf(floor.get("ratio").asString())));
    floors.addAll((ArrayNode) newer.get("floors"));
    ObjectNode runs = all.withObject("/laterRuns");
    rows.forEach(row -> runs.set(row, newer.deepCopy().retain(about)));
    return JSON.writeValueAsString(all) + "\n";
  }

  private static String rowOf(String ratio) {
    return ratio.split("/", 2)[0];
  }

  private static Map<String, Object> of(Summary summary) {
    Map<String, Object> system = new LinkedHashMap<>();
    system.put("cyclesPerSecond", of(summary.cyclesPerSecond()));
    system.put("acquireP50Micros", of(summary.p50Micros()));
    system.put("acquireP99Micros", of(summary.p99Micros()));
    system.put("cpuSecondsPerThousandCycles", rounded(summary.cpuPerThousand()));
    if (!Double.isNaN(summary.transactionsPerCycle())) {
      system.put("zookeeperTransactionsPerCycle", rounded(summary.transactionsPerCycle()));
    }
    system.put("rounds", summary.rounds().stream().map(ResultsJson::of).toList());
    return system;
  }

  private static Map<String, Object> of(Statistics statistics) {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("median", rounded(statistics.median()));
    values.put("min", rounded(statistics.min()));
    values.put("max", rounded(statistics.max()));
    values.put("mad", rounded(statistics.mad()));
    return values;
  }

  private static Map<String, Object> of(Sample sample) {
    Latency acquire = sample.acquire();
    Map<String, Object> round = new LinkedHashMap<>();
    round.put("cyclesPerSecond", rounded(sample.cyclesPerSecond()));
    round.put("p50Micros", rounded(acquire.p50()));
    round.put("p90Micros", rounded(acquire.p90()));
    round.put("p99Micros", rounded(acquire.p99()));
    round.put("p999Micros", rounded(acquire.p999()));
    round.put("maxMicros", rounded(acquire.max()));
    return round;
  }

  private static Map<String, Object> rounded(Map<String, ?> values) {
    Map<String, Object> rounded = new LinkedHashMap<>();
    values.forEach((name, value) -> rounded.put(name, rounded(value)));
    return rounded;
  }

  /** Leaves digits out that mean nothing, wherever numbers are. */
  private static Object rounded(Object value) {
    if (value instanceof Double number) {
      double scale = Math.abs(number) < 1 ? THOUSAND * THOUSAND : THOUSAND;
      return Math.round(number * scale) / scale;
    }
    if (value instanceof List<?> list) {
      return list.stream().map(ResultsJson::rounded).toList();
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, Object> rounded = new LinkedHashMap<>();
      map.forEach((name, inner) -> rounded.put(String.valueOf(name), rounded(inner)));
      return rounded;
    }
    return value;
  }
}
