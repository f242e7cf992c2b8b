package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Draws what is easier seen than read. */
final class Plots {

  private static final List<ComparedRow> OWN =
      List.of(ComparedRow.OWN_1, ComparedRow.OWN_64, ComparedRow.OWN_256, ComparedRow.OWN_1024);

  private Plots() {}

  /** Writes a plot for everything that was measured. */
  static void write(Path directory, Results results) throws IOException {
    for (Map.Entry<String, String> plot : all(results).entrySet()) {
      Files.writeString(directory.resolve(plot.getKey()), plot.getValue());
    }
  }

  /** Returns the plots by the names of their files. */
  static Map<String, String> all(Results results) {
    Map<String, String> plots = new LinkedHashMap<>();
    List<ComparedRow> measured =
        OWN.stream().filter(row -> !results.summaries(row.label()).isEmpty()).toList();
    if (measured.size() > 1) {
      plots.put("throughput.svg", throughput(measured, results));
    }
    Map<String, Summary> one = results.summaries(ComparedRow.OWN_1.label());
    if (!one.isEmpty()) {
      plots.put("latency-own-1.svg", latency(one));
    }
    for (ComparedRow row : List.of(ComparedRow.OWN_256, ComparedRow.HOT_64)) {
      Map<String, Summary> systems = results.summaries(row.label());
      if (!systems.isEmpty()) {
        plots.put("cpu-" + row.label() + ".svg", cpu(row.label(), systems));
      }
    }
    queue(results).ifPresent(plot -> plots.put("queue-10k.svg", plot));
    return plots;
  }

  private static String throughput(List<ComparedRow> rows, Results results) {
    TreeSet<Subject> subjects = new TreeSet<>();
    for (ComparedRow row : rows) {
      results.summaries(row.label()).keySet().forEach(label -> subjects.add(Subject.of(label)));
    }
    LineChart chart =
        new LineChart(
            "Acquire and release, each client its own lock",
            "cycles a second by clients, logarithmic; medians of all rounds",
            rows.stream()
                .map(row -> row.clients() + (row.clients() == 1 ? " client" : ""))
                .toList(),
            true);
    for (Subject subject : subjects) {
      chart.add(
          subject.label(),
          Colours.of(subject.label()),
          subject == Subject.LOCKKEEPER,
          rows.stream()
              .map(row -> Optional.ofNullable(results.summaries(row.label()).get(subject.label())))
              .map(summary -> summary.map(s -> s.cyclesPerSecond().median()))
              .toList());
    }
    return chart.draw();
  }

  private static String latency(Map<String, Summary> systems) {
    BarChart chart =
        new BarChart(
            "How long one client waits for its own free lock",
            "microseconds from the call to the grant: the bar is the median, the remark p99");
    systems.forEach(
        (system, summary) ->
            chart.add(
                system,
                Map.of("p50", summary.p50Micros().median()),
                Colours.of(system),
                String.format(
                    Locale.ROOT,
                    "%.0f (p99 %.0f)",
                    summary.p50Micros().median(),
                    summary.p99Micros().median())));
    return chart.draw();
  }

  private static String cpu(String row, Map<String, Summary> systems) {
    BarChart chart =
        new BarChart(
            "What a cycle costs: " + row,
            "microseconds of processor for one acquire and its release, by process");
    systems.forEach(
        (system, summary) -> {
          Map<String, Double> parts = new LinkedHashMap<>();
          summary
              .cpuPerThousand()
              .forEach((process, seconds) -> parts.put(kind(process), seconds * 1e3));
          double sum = parts.values().stream().mapToDouble(Double::doubleValue).sum();
          chart.add(system, parts, "", String.format(Locale.ROOT, "%.0f", sum));
        });
    return chart.draw();
  }

  private static String kind(String process) {
    return switch (process) {
      case "load" -> "load";
      case "coordinator", "pong-server" -> "coordinator or gRPC server";
      default -> "store";
    };
  }

  private static Optional<String> queue(Results results) {
    Object means =
        results
            .figures()
            .getOrDefault("queue-10k", Map.of())
            .getOrDefault("meanMicrosAGrantByThousand", List.of());
    if (!(means instanceof List<?> list) || list.isEmpty()) {
      return Optional.empty();
    }
    LineChart chart =
        new LineChart(
            "10,000 waiters on one lock, drained",
            "microseconds from one grant to the next, means of each thousand; the last round",
            IntStream.rangeClosed(1, list.size()).mapToObj(i -> i + "k").toList(),
            false);
    chart.add(
        "lockkeeper",
        Colours.of("lockkeeper"),
        true,
        list.stream().map(mean -> Optional.of(((Number) mean).doubleValue())).toList());
    return Optional.of(chart.draw());
  }
}
