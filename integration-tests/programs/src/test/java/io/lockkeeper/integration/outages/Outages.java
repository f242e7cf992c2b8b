package io.lockkeeper.integration.outages;

import static io.lockkeeper.integration.outages.Fault.setClock;
import static io.lockkeeper.integration.outages.Fault.slow;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.partitioningBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.lockkeeper.integration.outages.Scene.Need;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
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
          // Where each write takes four times 2 s, and a request may take 10 s, no grant is
          // promised.
          row("slow-2s", "slow by 2 s each way for 30 s", 30, slow(Duration.ofSeconds(2)))
              .atBest(Duration.ofSeconds(30)),
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
      # What outages of ZooKeeper cost

      What users of locks notice when servers of ZooKeeper fail, measured with real processes and the default settings. The table is below; this is what it
      says, and why.

      - **While most servers of ZooKeeper run and reach one another in good time, locks are kept.** Holders are told JEOPARDY when their coordinator loses contact, and SAFE when it
        has contact again; nobody else is granted a lock that somebody may still use. What stops for a while is grants: whoever waits, waits longer.
      - **A server that dies costs a second or two**: its connections break, so everybody notices at once and goes elsewhere. A full disk ends the server's process, and is the same.
      - **A server that vanishes costs up to 8 s**: a frozen machine, or one behind a network that swallows packets, breaks no connection. A coordinator leaves it when it has not
        answered a write for a sixth of the lock session timeout (5 s). Who leaves one such server may come to another, which costs as much
        again, and more if a peer takes leases over meanwhile (after the member session timeout, 6 s) or if they vanish one after the other (the second has 10 s to answer).
      - **The leader's machine vanishing costs 12 s, and up to 8 s more**: ZooKeeper itself takes no write before the other servers give up their leader, after `syncLimit` x `tickTime` (10 s),
        and have elected another. A smaller `syncLimit` makes this shorter, and elections after mere pauses more frequent.
      - **A slow leader slows everything**: a write travels to it and back twice. With 200 ms each way that is 0.8 s. With 2 s it is 8 s, and most requests are not answered within the 10 s that they may
        take: nothing is granted meanwhile. A third of the lock session timeout for one write is too much to be sure of any session: if it lasts, locks can be lost. A slow follower is left.
      - **Wall clocks do not matter**, neither ZooKeeper's nor those of coordinators.
      - **No ZooKeeper at all**: locks are kept if it is back before the sessions that own them could have expired, 30 s after the last write less what it takes to be sure.
        Up to 21 s cost nothing; one of 26 s has cost every lock. Coordinators answer keep-alives meanwhile, so clients need not do anything. For a longer outage to cost nothing, raise
        `--lock-session-timeout`; the price is that locks of a client that dies together with its coordinator are free later.

      ## The table

      Written by `make outages` on %s (seed %d; `SEED=` repeats what happens when and to whom, `TIMES=` says how often all servers die). Each line is a run with `tickTime` 2 s,
      `syncLimit` 5, fsync, lock sessions of 30 s and leases of 15 s, all on one machine with two cores. An outage begins at a random moment between two proofs of lock sessions. A proxy between any
      two processes cuts, and slows down. If it says "no leader", coordinators are connected to followers only, and those are hit that most are connected to.

      - **Longest gap in grants**: the longest time for which any client went without a grant that takes and gives back a lock of its own all the time.
      - **ZooKeeper took no write for**: the same for a plain client of ZooKeeper that is connected to servers which nothing happens to.
      - **Locks lost**: locks, and places in a queue, that were lost. **Two holders at once** would be seen among clients, and between them and a service that takes the same locks with Curator, over servers
        that nothing happens to.
      - **Clients were told**: 16 clients, 4 of which keep a lock; refused are requests that were answered with "unavailable", and whose clients know that they hold nothing.
      - **Logged** by coordinators, WARN and ERROR. `ClientCnxnSocketNetty` and `DefaultChannelPipeline` are libraries that report broken connections in their own way.
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
    Map<Boolean, List<Row>> lanes =
        named(List.of(arguments)).stream().collect(partitioningBy(row -> row instanceof FaultRow));
    // Side by side: most of their time they wait.
    CompletableFuture<List<Line>> faults = runAll(lanes.get(true), seed);
    CompletableFuture<List<Line>> others = runAll(lanes.get(false), seed);
    List<Line> lines = Stream.of(faults, others).flatMap(lane -> lane.join().stream()).toList();
    String table = Line.HEAD + lines.stream().map(line -> line + "\n").collect(joining());
    System.out.print("\n" + table);
    if (arguments.length == 0) {
      Files.writeString(
          PAGE, INTRODUCTION.formatted(LocalDate.now(ZoneOffset.UTC), seed) + "\n" + table);
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

  private static CompletableFuture<List<Line>> runAll(List<Row> rows, long seed) {
    return CompletableFuture.supplyAsync(
        () -> rows.stream().flatMap(row -> run(row, new Random(seed)).stream()).toList(),
        task -> new Thread(task, "lane").start());
  }

  private static List<Line> run(Row row, Random random) {
    say("%s:", row.name());
    try {
      List<Line> lines = row.run(random);
      lines.forEach(System.out::println);
      return lines;
    } catch (Exception | AssertionError e) {
      e.printStackTrace();
      return List.of(Line.without(row.name(), "could not be tried", List.of(e.toString())));
    }
  }

  private static FaultRow row(String name, String outage, int seconds, Fault fault) {
    return new FaultRow(
        name, outage, Duration.ofSeconds(seconds), fault, Need.NOTHING, false, SLACK, true);
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
