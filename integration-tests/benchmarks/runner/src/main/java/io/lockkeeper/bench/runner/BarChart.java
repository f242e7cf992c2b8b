package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.runner.Svg.Point;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Bars from left to right, each of one part or several. */
final class BarChart {

  private static final int WIDTH = 800;
  private static final double LEFT = 150;
  private static final double RIGHT = 670;
  private static final double TOP = 66;
  private static final double BAR = 22;
  private static final double STEP = 32;
  private static final double FOOT = 56;

  private final String title;
  private final String note;
  private final List<Bar> bars = new ArrayList<>();

  private record Bar(String name, Map<String, Double> parts, String colour, String remark) {
    double sum() {
      return parts.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  BarChart(String title, String note) {
    this.title = title;
    this.note = note;
  }

  /** Adds a bar; without a colour each part has its own, named below. */
  void add(String name, Map<String, Double> parts, String colour, String remark) {
    bars.add(new Bar(name, parts, colour, remark));
  }

  /** Returns the chart. */
  String draw() {
    double bottom = TOP + STEP * bars.size();
    Svg svg = new Svg(WIDTH, (int) (bottom + FOOT), title, note);
    Scale scale = Scale.of(0, bars.stream().mapToDouble(Bar::sum).max().orElse(1), false);
    for (double tick : scale.ticks()) {
      double x = LEFT + scale.part(tick) * (RIGHT - LEFT);
      svg.line("grid", new Point(x, TOP - 6), new Point(x, bottom));
      svg.note(new Point(x, bottom + 16), "middle", Scale.label(tick));
    }
    Map<String, String> colours = new LinkedHashMap<>();
    for (int i = 0; i < bars.size(); i++) {
      draw(svg, scale, bars.get(i), TOP + STEP * i, colours);
    }
    double x = LEFT;
    for (Map.Entry<String, String> part : colours.entrySet()) {
      svg.bar(part.getValue(), new Point(x, bottom + 31), 10, 10);
      svg.text(new Point(x + 15, bottom + 41), "start", part.getKey());
      x += 40 + 7.5 * part.getKey().length();
    }
    return svg.toString();
  }

  private static void draw(
      Svg svg, Scale scale, Bar bar, double y, Map<String, String> colours) {
    svg.text(new Point(LEFT - 10, y + BAR - 6), "end", bar.name);
    double x = LEFT;
    for (Map.Entry<String, Double> part : bar.parts.entrySet()) {
      double length = scale.part(part.getValue()) * (RIGHT - LEFT);
      String colour =
          bar.colour.isEmpty()
              ? colours.computeIfAbsent(part.getKey(), p -> Colours.ofPart(colours.size()))
              : bar.colour;
      svg.bar(colour, new Point(x, y), length, BAR);
      x += length;
    }
    svg.text(new Point(x + 8, y + BAR - 6), "start", bar.remark);
  }
}
