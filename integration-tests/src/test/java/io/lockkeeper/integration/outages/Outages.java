package io.lockkeeper.integration.outages;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Brings outages upon an ensemble and its coordinators, and measures what they cost. Prints a
 * table, and fails if a line misses its floor.
 */
public final class Outages {

  private static final List<Row> ROWS = List.of(new TwoHoldersRow());

  private Outages() {}

  /**
   * Arguments: the names of rows; none for all. {@code OUTAGES_SEED} decides when things happen and
   * to whom.
   */
  public static void main(String[] arguments) throws Exception {
    String given = System.getenv().getOrDefault("OUTAGES_SEED", "");
    long seed = given.isEmpty() ? System.nanoTime() % 1_000_000 : Long.parseLong(given);
    say("seed %d", seed);
    List<Line> lines = new ArrayList<>();
    for (Row row : named(List.of(arguments))) {
      say("%s:", row.name());
      List<Line> these = row.run(new Random(seed));
      these.forEach(System.out::println);
      lines.addAll(these);
    }
    System.out.print("\n" + Line.HEAD);
    lines.forEach(System.out::println);
    List<String> broken = lines.stream().flatMap(Outages::complaints).toList();
    broken.forEach(System.out::println);
    System.exit(broken.isEmpty() ? 0 : 1);
  }

  private static List<Row> named(List<String> names) {
    for (String name : names) {
      if (ROWS.stream().noneMatch(row -> row.name().equals(name))) {
        throw new IllegalArgumentException(
            "no row " + name + "; there are " + ROWS.stream().map(Row::name).toList());
      }
    }
    return ROWS.stream().filter(row -> names.isEmpty() || names.contains(row.name())).toList();
  }

  private static Stream<String> complaints(Line line) {
    return line.broken().stream()
        .map(what -> "FLOOR MISSED: " + line.outage() + ", " + line.where() + ": " + what);
  }

  /** Prints what goes on. */
  static void say(String format, Object... values) {
    System.out.printf(Locale.ROOT, format + "%n", values);
  }

  /** Returns a duration in seconds. */
  static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.2f s", duration.toMillis() / 1e3);
  }
}
