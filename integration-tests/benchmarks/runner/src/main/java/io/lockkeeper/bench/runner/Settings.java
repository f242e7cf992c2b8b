package io.lockkeeper.bench.runner;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a run measures, from the environment.
 *
 * @param rows the rows to run, in this order
 * @param subjects the systems to measure, where a row has them
 * @param rounds how often each system is measured in each row
 * @param seconds how long each measurement counts
 * @param rampSeconds how long clients work before each measurement counts
 * @param warmUpSeconds how long each system works before the first round
 * @param connections how many connections the clients of a system share
 * @param names how many lock names the row {@code names} uses
 * @param attacks what the hostile client does in the row {@code hostile}
 * @param seed of the order of the systems in each round
 * @param coordinatorFlags flags of the coordinator's JVM, beside none
 * @param writes whether results are written, however few rows ran
 * @param checks whether a missed floor fails the run
 */
record Settings(
    List<String> rows,
    Set<Subject> subjects,
    int rounds,
    double seconds,
    double rampSeconds,
    double warmUpSeconds,
    int connections,
    int names,
    List<String> attacks,
    long seed,
    List<String> coordinatorFlags,
    boolean writes,
    boolean checks) {

  /**
   * Reads settings; what is not set has its default.
   *
   * @param allRows the rows that there are
   * @param usualRows those that run where none are asked for
   */
  static Settings of(
      Map<String, String> environment, List<String> allRows, List<String> usualRows) {
    List<String> rows = words(environment, "ROWS");
    List<String> systems = words(environment, "SYSTEMS");
    Set<Subject> subjects = EnumSet.noneOf(Subject.class);
    systems.forEach(system -> subjects.add(Subject.of(system)));
    for (String row : rows) {
      if (!allRows.contains(row)) {
        throw new IllegalArgumentException("no such row: " + row + "; there are " + allRows);
      }
    }
    return new Settings(
        rows.isEmpty() ? usualRows : rows,
        subjects.isEmpty() ? EnumSet.allOf(Subject.class) : subjects,
        (int) number(environment, "ROUNDS", 5),
        // In some shells SECONDS counts by itself: make hands it on under the other name.
        number(environment, "BENCH_SECONDS", number(environment, "SECONDS", 3)),
        number(environment, "RAMP", 1),
        number(environment, "WARMUP", 8),
        (int) number(environment, "CONNECTIONS", 4),
        (int) number(environment, "NAMES", 1_000_000),
        attacks(environment),
        (long) number(environment, "SEED", 1),
        words(environment, "COORDINATOR_FLAGS"),
        number(environment, "WRITE", rows.isEmpty() && systems.isEmpty() ? 1 : 0) != 0,
        number(environment, "CHECK", 0) != 0);
  }

  /** Returns the same for other systems. */
  Settings with(Set<Subject> others) {
    return new Settings(
        rows,
        others,
        rounds,
        seconds,
        rampSeconds,
        warmUpSeconds,
        connections,
        names,
        attacks,
        seed,
        coordinatorFlags,
        writes,
        checks);
  }

  private static List<String> words(Map<String, String> environment, String name) {
    return Arrays.stream(environment.getOrDefault(name, "").split("[ ,]+", -1))
        .filter(word -> !word.isEmpty())
        .toList();
  }

  private static List<String> attacks(Map<String, String> environment) {
    List<String> attacks = words(environment, "ATTACKS");
    for (String attack : attacks) {
      if (!HostileRow.ATTACKS.contains(attack)) {
        throw new IllegalArgumentException(
            "no such attack: " + attack + "; there are " + HostileRow.ATTACKS);
      }
    }
    return attacks.isEmpty() ? HostileRow.ATTACKS : attacks;
  }

  private static double number(Map<String, String> environment, String name, double otherwise) {
    String value = environment.getOrDefault(name, "");
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " is no number: " + value, e);
    }
  }

  /** Returns what a reader of the results must know. */
  Map<String, Object> describe() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("seed", seed);
    all.put("rounds", rounds);
    all.put("seconds", seconds);
    all.put("rampSeconds", rampSeconds);
    all.put("warmUpSecondsAtLeast", warmUpSeconds);
    all.put("connectionsOfALoad", connections);
    all.put("loadJvm", Jvms.LOAD_FLAGS);
    all.put("zookeeperJvm", Jvms.ZOOKEEPER_FLAGS);
    all.put("coordinatorJvm", coordinatorFlags);
    all.put("zookeeper", "one server, forceSync=yes, tickTime 2 s");
    all.put("etcd", "one server, default settings (fsync)");
    all.put("redis", "one server, appendonly yes, appendfsync always; nofsync: default settings");
    return all;
  }

  /** Returns how long each measurement counts. */
  long millis() {
    return Math.round(seconds * 1e3);
  }

  /** Returns how long clients work before each measurement counts. */
  long rampMillis() {
    return Math.round(rampSeconds * 1e3);
  }
}
