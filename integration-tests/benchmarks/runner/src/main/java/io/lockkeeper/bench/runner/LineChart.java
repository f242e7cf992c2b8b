package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.runner.Svg.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Lines over a few places on the x axis. */
final class LineChart {

  private static final int WIDTH = 800;
  private static final int HEIGHT = 420;
  private static final double LEFT = 70;
  private static final double RIGHT = 590;
  private static final double TOP = 70;
  private static final double BOTTOM = 380;
  private static final double LEAST_GAP = 16;

  private final Svg svg;
  private final List<String> places;
  private final boolean logarithmic;
  private final List<Series> all = new ArrayList<>();

  private record Series(
      String name, String colour, boolean stressed, List<Optional<Double>> values) {

    double last() {
      return values.stream().flatMap(Optional::stream).reduce((a, b) -> b).orElse(0.0);
    }
  }

  LineChart(String title, String note, List<String> places, boolean logarithmic) {
    this.svg = new Svg(WIDTH, HEIGHT, title, note);
    this.places = places;
    this.logarithmic = logarithmic;
  }

  /** Adds a line: a value for each place, where there is one. */
  void add(String name, String colour, boolean stressed, List<Optional<Double>> values) {
    all.add(new Series(name, colour, stressed, values));
  }

  /** Returns the chart. */
  String draw() {
    double greatest = values().mapToDouble(Double::doubleValue).max().orElse(1);
    double least = values().mapToDouble(Double::doubleValue).min().orElse(1);
    Scale scale = Scale.of(logarithmic ? least : 0, greatest, logarithmic);
    for (double tick : scale.ticks()) {
      double y = y(scale, tick);
      svg.line("grid", new Point(LEFT, y), new Point(RIGHT, y));
      svg.note(new Point(LEFT - 8, y + 4), "end", Scale.label(tick));
    }
    svg.line("axis", new Point(LEFT, BOTTOM), new Point(RIGHT, BOTTOM));
    for (int i = 0; i < places.size(); i++) {
      svg.text(new Point(x(i), BOTTOM + 20), "middle", places.get(i));
    }
    for (Series series : all) {
      List<Point> points =
          IntStream.range(0, places.size())
              .boxed()
              .flatMap(i -> series.values.get(i).map(v -> new Point(x(i), y(scale, v))).stream())
              .toList();
      svg.path(series.colour, series.stressed ? 3.5 : 1.8, points);
    }
    name(scale);
    return svg.toString();
  }

  /** Writes the names beside the ends of the lines, moved apart where they would meet. */
  private void name(Scale scale) {
    List<Series> fromTop =
        all.stream().sorted((a, b) -> Double.compare(b.last(), a.last())).toList();
    double lowest = TOP - LEAST_GAP;
    for (Series series : fromTop) {
      double y = Math.max(y(scale, series.last()) + 4, lowest + LEAST_GAP);
      svg.bar(series.colour, new Point(RIGHT + 12, y - 9), 10, 10);
      svg.text(
          new Point(RIGHT + 28, y),
          "start",
          String.format(Locale.ROOT, "%s %s", series.name, Scale.label(series.last())));
      lowest = y;
    }
  }

  private Stream<Double> values() {
    return all.stream().flatMap(series -> series.values.stream().flatMap(Optional::stream));
  }

  private double x(int place) {
    double step = (RIGHT - LEFT) / places.size();
    return LEFT + step * (place + 0.5);
  }

  private static double y(Scale scale, double value) {
    return BOTTOM - scale.part(value) * (BOTTOM - TOP);
  }
}
