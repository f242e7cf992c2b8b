package io.lockkeeper.bench.runner;

import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Prints results for people, and for scripts that look for {@code ratio} and {@code floor}. */
record Table(PrintStream out) {

  /** Prints what was measured in a row. */
  void row(String row, Results results) {
    Map<String, Summary> systems = results.summaries(row);
    if (!systems.isEmpty()) {
      systems(row, systems);
    }
    Map<String, Object> figures = results.figures().getOrDefault(row, Map.of());
    if (!figures.isEmpty()) {
      figures(row, figures);
    }
  }

  private void systems(String row, Map<String, Summary> systems) {
    print(
        "%n%-10s %-14s %9s %19s %7s %9s %9s %7s  %s",
        row,
        "",
        "cycles/s",
        "min-max",
        "mad",
        "p50 us",
        "p99 us",
        "zk tx",
        "CPU seconds a thousand cycles");
    systems.forEach(this::system);
  }

  private void system(String name, Summary summary) {
    Statistics cycles = summary.cyclesPerSecond();
    print(
        "%-10s %-14s %9.0f %9.0f-%-9.0f %7.0f %9.0f %9.0f %7s  %s",
        "",
        name,
        cycles.median(),
        cycles.min(),
        cycles.max(),
        cycles.mad(),
        summary.p50Micros().median(),
        summary.p99Micros().median(),
        Double.isNaN(summary.transactionsPerCycle())
            ? ""
            : String.format(Locale.ROOT, "%.3f", summary.transactionsPerCycle()),
        cpu(summary.cpuPerThousand()));
  }

  private static String cpu(Map<String, Double> cpu) {
    double sum = cpu.values().stream().mapToDouble(Double::doubleValue).sum();
    return String.format(Locale.ROOT, "%.4f = ", sum)
        + cpu.entrySet().stream()
            .map(e -> String.format(Locale.ROOT, "%s %.4f", e.getKey(), e.getValue()))
            .collect(Collectors.joining(" + "));
  }

  private void figures(String row, Map<String, Object> figures) {
    print("%n%s", row);
    figures.forEach(
        (name, value) -> {
          if (value instanceof Double number) {
            print("  %-44s %,.2f", name, number);
          } else if (value instanceof Number || value instanceof String) {
            print("  %-44s %s", name, value);
          }
        });
  }

  /** Prints all ratios, and what became of the floors. */
  void verdict(Map<String, Double> ratios) {
    print("");
    ratios.forEach((name, value) -> print("ratio %s %.2f", name, value));
    print("");
    for (Floor.Outcome outcome : Floor.outcomes(ratios)) {
      print(
          "floor %s %.2f measured %.2f %s%s",
          outcome.floor().ratio(),
          outcome.floor().limit(),
          outcome.measured(),
          outcome.isMet() ? "met" : "MISSED",
          outcome.floor().isCeiling() ? " (at most)" : "");
    }
  }

  /** Prints a line. */
  void print(String format, Object... values) {
    out.println(String.format(Locale.ROOT, format, values));
    out.flush();
  }
}
