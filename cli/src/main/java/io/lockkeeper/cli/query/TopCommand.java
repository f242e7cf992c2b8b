package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Terminal;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.cli.text.ListOptions;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.LockState;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the locks that most wait for. */
@Command(
    name = "top",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Shows the locks in use, the longest queues first, and among equals those that have been held the longest.",
      "",
      "On a terminal it is shown anew until q is typed; else once."
    })
public final class TopCommand implements Callable<Integer> {

  private static final Duration LEAST = Duration.ofMillis(500);
  private static final Duration MOST = Duration.ofSeconds(25);
  private static final int MAX_COUNT = 1_000;
  private static final int LONGEST_NAME = 40;

  /** Rows that are not locks: the summary, the header, and the line with the cursor. */
  private static final int OTHER_ROWS = 4;

  private static final String OWN_SCREEN = "\u001b[?1049h\u001b[?25l\u001b[?7l";
  private static final String OLD_SCREEN = "\u001b[?7h\u001b[?25h\u001b[?1049l";
  private static final String TOP_LEFT = "\u001b[H";
  private static final String TO_END_OF_LINE = "\u001b[K";
  private static final String TO_END_OF_SCREEN = "\u001b[J";

  @Spec private CommandSpec spec;

  @Option(
      names = {"-c", "--count"},
      paramLabel = "COUNT",
      description =
          "How many locks to show, 1 to 1000. [default: 20; on a terminal, as many as fit]")
  private Optional<Integer> count = Optional.empty();

  @Option(
      names = "--interval",
      paramLabel = "DURATION",
      defaultValue = "2s",
      converter = DurationConverter.class,
      description = "How long until it is shown anew, 500ms to 25s. [default ${DEFAULT-VALUE}]")
  private Duration interval;

  @Option(names = "--once", description = "Show it once, on a terminal too.")
  private boolean once;

  @Mixin private PrefixParameter names;
  @Mixin private ListOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    DurationConverter.require("--interval", interval, LEAST, MOST);
    if (count.isPresent() && (count.get() < 1 || count.get() > MAX_COUNT)) {
      throw new CliException(ExitCodes.USAGE, "--count: must be 1 to 1000, is " + count.get());
    }
    Servers servers = new Servers(options);
    PrintWriter out = spec.commandLine().getOut();
    boolean live =
        !once
            && output.format() == ListOptions.Format.TABLE
            && Terminal.isStandardInput()
            && Terminal.isStandardOutput();
    Optional<AutoCloseable> keys =
        live ? Terminal.keys((int) (interval.toMillis() / 100)) : Optional.empty();
    if (keys.isPresent()) {
      follow(servers, keys.get(), out);
    } else {
      print(LockPages.all(servers, names.prefix), count.orElse(20), false, out);
    }
    return ExitCodes.OK;
  }

  private void follow(Servers servers, AutoCloseable keys, PrintWriter out) {
    AtomicBoolean over = new AtomicBoolean();
    Runnable restore =
        () -> {
          if (over.compareAndSet(false, true)) {
            out.print(OLD_SCREEN);
            out.flush();
            close(keys);
          }
        };
    Runtime.getRuntime().addShutdownHook(new Thread(restore, "lockkeeper-terminal")); // for Ctrl-C
    out.print(OWN_SCREEN);
    try {
      do {
        out.print(TOP_LEFT + screen(servers, Terminal.size().rows()) + TO_END_OF_SCREEN);
        out.flush();
      } while (!isQuitTyped());
    } finally {
      restore.run();
    }
  }

  /** Reading a key waits for as long as the screen is to stay. */
  private static boolean isQuitTyped() {
    try {
      int key = System.in.read();
      return key == 'q' || key == 'Q';
    } catch (IOException e) {
      return true; // the terminal is gone
    }
  }

  private static void close(AutoCloseable keys) {
    try {
      keys.close();
    } catch (Exception e) {
      throw new IllegalStateException("what could be set can be set back", e);
    }
  }

  /** A server that does not answer for a while is no reason to end. */
  private String screen(Servers servers, int rows) {
    StringWriter text = new StringWriter();
    PrintWriter writer = new PrintWriter(text);
    try {
      int most = Math.min(count.orElse(MAX_COUNT), Math.max(1, rows - OTHER_ROWS));
      print(LockPages.all(servers, names.prefix), most, true, writer);
    } catch (CliException e) {
      writer.println(e.getMessage());
    }
    writer.flush();
    return text.toString()
        .lines()
        .map(line -> line + TO_END_OF_LINE + "\n")
        .reduce("", String::concat);
  }

  private void print(List<LockState> locks, int most, boolean shorten, PrintWriter out) {
    List<LockState> busiest = new ArrayList<>(locks);
    busiest.sort(
        Comparator.comparingInt(LockState::getQueueLength)
            .thenComparing(TopCommand::heldFor)
            .reversed());
    List<LockState> shown = busiest.subList(0, Math.min(most, busiest.size()));
    switch (output.format()) {
      case JSON -> shown.forEach(lock -> out.println(Json.line(lock)));
      case NAME -> shown.forEach(lock -> out.println(Text.plain(lock.getName())));
      case TABLE -> printTable(locks, shown, shorten, out);
    }
    out.flush();
  }

  private void printTable(
      List<LockState> locks, List<LockState> shown, boolean shorten, PrintWriter out) {
    long held = locks.stream().filter(lock -> lock.getHoldersCount() > 0).count();
    long waiting = locks.stream().mapToLong(LockState::getQueueLength).sum();
    out.println(held + " held, " + waiting + " waiting" + (shorten ? "; q quits" : ""));
    out.println();
    Table table = new Table(output.style(), "WAITING", "LOCK", "HELD BY", "FOR", "PURPOSE");
    for (LockState lock : shown) {
      String name = Text.plain(lock.getName());
      table.row(
          Integer.toString(lock.getQueueLength()),
          shorten ? Text.shortened(name, LONGEST_NAME) : name,
          LockText.heldBy(lock),
          LockText.heldFor(lock),
          LockText.purpose(lock));
    }
    table.print(out);
  }

  private static Duration heldFor(LockState lock) {
    return lock.getHoldersCount() == 0
        ? Duration.ZERO
        : Duration.ofSeconds(lock.getHolders(0).getHeldFor().getSeconds());
  }
}
