package io.lockkeeper.bench.runner;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A drawing, written as SVG by hand: it needs no fonts of the machine that draws it, and it follows
 * the reader's light or dark colours, which a chart library's fixed ones do not.
 */
final class Svg {

  private static final String STYLE =
      """
      <style>
        .ground { fill: #ffffff; }
        text { font: 13px system-ui, sans-serif; fill: #1f2328; }
        .title { font-size: 16px; font-weight: 600; }
        .note { fill: #59636e; font-size: 12px; }
        .axis { stroke: #818b98; stroke-width: 1; }
        .grid { stroke: #d1d9e0; stroke-width: 1; }
        @media (prefers-color-scheme: dark) {
          .ground { fill: #0d1117; }
          text { fill: #f0f6fc; }
          .note { fill: #9198a1; }
          .axis { stroke: #656c76; }
          .grid { stroke: #30363d; }
        }
      </style>
      """;

  private final StringBuilder body = new StringBuilder();
  private final int width;
  private final int height;

  /** Begins a drawing with a title. */
  Svg(int width, int height, String title, String note) {
    this.width = width;
    this.height = height;
    add("<rect class='ground' width='%d' height='%d' rx='6'/>", width, height);
    add("<text class='title' x='20' y='28'>%s</text>", escaped(title));
    add("<text class='note' x='20' y='47'>%s</text>", escaped(note));
  }

  /** A point. */
  record Point(double x, double y) {}

  /** Draws a line of one of the classes {@code axis} and {@code grid}. */
  void line(String kind, Point from, Point to) {
    add(
        "<line class='%s' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>",
        kind, from.x, from.y, to.x, to.y);
  }

  /** Draws points with a line through them. */
  void path(String colour, double thickness, List<Point> points) {
    add(
        "<polyline fill='none' stroke='%s' stroke-width='%.1f' points='%s'/>",
        colour,
        thickness,
        points.stream()
            .map(p -> String.format(Locale.ROOT, "%.1f,%.1f", p.x, p.y))
            .collect(Collectors.joining(" ")));
    for (Point point : points) {
      add(
          "<circle cx='%.1f' cy='%.1f' r='%.1f' fill='%s'/>",
          point.x, point.y, thickness + 1.5, colour);
    }
  }

  /** Draws a bar. */
  void bar(String colour, Point corner, double barWidth, double barHeight) {
    add(
        "<rect fill='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>",
        colour, corner.x, corner.y, Math.max(0, barWidth), Math.max(0, barHeight));
  }

  /** Writes a word; the anchor is {@code start}, {@code middle} or {@code end}. */
  void text(Point at, String anchor, String text) {
    add(
        "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>", at.x, at.y, anchor, escaped(text));
  }

  /** Writes a remark. */
  void note(Point at, String anchor, String text) {
    add(
        "<text class='note' x='%.1f' y='%.1f' text-anchor='%s'>%s</text>",
        at.x, at.y, anchor, escaped(text));
  }

  private void add(String format, Object... values) {
    body.append("  ").append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;");
  }

  /** Returns the drawing. */
  @Override
  public String toString() {
    return String.format(
            Locale.ROOT,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d'>%n",
            width,
            height,
            width,
            height)
        + STYLE
        + body
        + "</svg>\n";
  }
}
