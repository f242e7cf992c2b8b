package io.lockkeeper.bench.runner;

/** Reads Prometheus' text format. */
final class Metrics {

  private Metrics() {}

  /** Returns a metric's value; of several with other labels, their sum; 0 if there is none. */
  static double sum(String text, String name) {
    return text.lines()
        .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
