package io.lockkeeper.integration.outages;

import static io.lockkeeper.integration.outages.Fault.setClock;
import static io.lockkeeper.integration.outages.Fault.slow;
import static java.util.stream.Collectors.joining;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.lockkeeper.integration.outages.Scene.Need;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * Brings outages upon an ensemble and its coordinators, and measures what they cost. Prints a
 * table, and fails if a line misses its floor.
 */
public final class Outages {

  private static final Duration SLACK = Duration.ofSeconds(8);

  private static final List<Row> ROWS =
      List.of(
          row("paused", "frozen (SIGSTOP) for 20 s", 20, Fault::pause),
          row("killed", "killed for 12 s", 12, Fault::kill),
          row("cut-off", "cut off both ways for 20 s", 20, Fault::cutOff),
          row("mute", "cut off one way, heard by nobody, for 20 s", 20, Fault::mute),
          row("slow-200ms", "slow by 200 ms each way for 20 s", 20, slow(Duration.ofMillis(200))),
          // A write through a slow follower takes four times two seconds, and a turn is two writes.
          row("slow-2s", "slow by 2 s each way for 30 s", 30, slow(Duration.ofSeconds(2)))
              .within(Duration.ofSeconds(24)),
          row("disk-full", "disk full for 15 s", 15, Fault::fillDisk).with(Need.SMALL_DISKS),
          row("clock-on", "clock set on by an hour for 12 s", 12, setClock(Duration.ofHours(1)))
              .with(Need.CLOCKS),
          row(
                  "clock-back",
                  "clock set back by an hour for 12 s",
                  12,
                  setClock(Duration.ofHours(-1)))
              .with(Need.CLOCKS),
          row("descriptors", "no file descriptor left for 15 s", 15, Fault::exhaust),
          row(
                  "coordinator-descriptors",
                  "no file descriptor left for 15 s",
                  15,
                  Fault::exhaustCoordinators)
              .onlyCoordinators(),
          new AllDeadRow(),
          new TwoHoldersRow());

  private static final Path PAGE = Path.of("..", "docs", "outages.md");

  private static final String INTRODUCTION =
      """
      # What outages cost

      `make outages` writes this page (seed %d). Every line is a run with real processes, settings of production (tick 2 s, fsync, lock
      sessions of 30 s, member sessions of 6 s, TTL 15 s) and a proxy between any two of them, on one machine with two cores. An outage begins at a random
      phase of the proofs of lock sessions. Of every four client-java clients one keeps a lock, one takes and gives back a lock of its
      own, two share one. A service that uses Curator on the servers that nothing happens to
      waits for what clients keep, and takes what they share. The gap is the longest time for which any one of those who take
      and give back a lock of their own went without a grant; ZooKeeper's own is that in which a client of the servers that nothing
      happened to could not write. JEOPARDY, SAFE and LOST are counted as clients heard them; refused are requests that were answered with "unavailable". A line that falls short of its floor fails the run.
      """;

  private Outages() {}

  /**
   * Arguments: the names of rows; none for all. {@code OUTAGES_SEED} decides when things happen and
   * to whom, {@code OUTAGES_TIMES} how often all servers die for each length.
   */
  public static void main(String[] arguments) throws Exception {
    long seed = setting("SEED", System.nanoTime() % 1_000_000);
    say("seed %d", seed);
    ((Logger) LoggerFactory.getLogger("org.apache")).setLevel(Level.OFF);
    List<Line> lines = new ArrayList<>();
    for (Row row : named(List.of(arguments))) {
      say("%s:", row.name());
      List<Line> these = run(row, new Random(seed));
      these.forEach(System.out::println);
      lines.addAll(these);
    }
    String table = Line.HEAD + lines.stream().map(line -> line + "\n").collect(joining());
    System.out.print("\n" + table);
    if (arguments.length == 0) {
      Files.writeString(PAGE, INTRODUCTION.formatted(seed) + "\n" + table);
    }
    List<String> broken = lines.stream().flatMap(Outages::complaints).toList();
    broken.forEach(System.out::println);
    System.exit(broken.isEmpty() ? 0 : 1);
  }

  /** Returns a number that {@code make outages} was given, or what counts without. */
  static long setting(String name, long otherwise) {
    String given = System.getenv().getOrDefault("OUTAGES_" + name, "");
    return given.isEmpty() ? otherwise : Long.parseLong(given);
  }

  private static List<Line> run(Row row, Random random) {
    try {
      return row.run(random);
    } catch (Exception | AssertionError e) {
      e.printStackTrace();
      return List.of(Line.without(row.name(), "could not be tried", List.of(e.toString())));
    }
  }

  private static FaultRow row(String name, String outage, int seconds, Fault fault) {
    return new FaultRow(
        name, outage, Duration.ofSeconds(seconds), fault, Need.NOTHING, false, SLACK);
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
