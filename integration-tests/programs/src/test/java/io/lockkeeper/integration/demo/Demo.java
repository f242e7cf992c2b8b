package io.lockkeeper.integration.demo;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.Watch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The oversold stock: 100 buyers of 30 items in two shop processes, half a second for each
 * checkout; first without a lock, then with. Ends with code 1 if it did not come out as told.
 */
public final class Demo {

  static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();
  private static final int BUYERS = 100;
  private static final int ITEMS = 30;
  private static final long TICK_MILLIS = 200;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(90);

  private final Path directory;
  private final boolean terminal;
  private long shownNanos = System.nanoTime() - TimeUnit.SECONDS.toNanos(1);

  private Demo(Path directory, boolean terminal) {
    this.directory = directory;
    this.terminal = terminal;
  }

  /**
   * Arguments: the server's address, a directory to write to, and whether the output is a {@code
   * terminal}.
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Demo demo = new Demo(Path.of(arguments[1]), arguments[2].equals("terminal"));
    print(
        "%d buyers want %d items in two shops; a checkout takes half a second.%n%n", BUYERS, ITEMS);
    Tally without = demo.withoutLock();
    boolean fine = without.sold() > ITEMS;
    fine &= demo.withLock(arguments[0], without);
    System.exit(fine ? 0 : 1);
  }

  private Tally withoutLock() throws IOException, InterruptedException {
    print("1. Without a lock%n");
    Tally tally = new Tally();
    Stock stock = newStock("without");
    run(tally, stock, List.of(), () -> String.format("sold %3d of %d", tally.sold(), ITEMS));
    print(
        "   OVERSOLD by %d, and the stock still says %d.%n%n", tally.sold() - ITEMS, stock.read());
    return tally;
  }

  private boolean withLock(String server, Tally without) throws IOException, InterruptedException {
    print("2. With the lock %s%n", Shop.LOCK);
    Tally tally = new Tally();
    QueueView queue = new QueueView();
    Stock stock = newStock("with");
    try (LockkeeperClient client =
            LockkeeperClient.builder(server).plaintext().holder("demo").build();
        Watch watch = client.watch(Shop.LOCK, queue)) {
      run(tally, stock, List.of(server), () -> line(tally, queue));
    }
    print("   Sold %d, the stock says %d.%n%n", tally.sold(), stock.read());
    return summary(without, tally, queue) && stock.read() == 0;
  }

  private void run(Tally tally, Stock stock, List<String> server, Supplier<String> line)
      throws IOException, InterruptedException {
    try (Sale sale = Sale.start(tally, BUYERS, stock.file(), server)) {
      long startNanos = System.nanoTime();
      while (!sale.awaitClosed(TICK_MILLIS)) {
        progress(startNanos, line.get());
        if (System.nanoTime() - startNanos > PATIENCE_NANOS) {
          throw new IllegalStateException("the sale does not end");
        }
      }
      progressEnd(startNanos, line.get());
    }
  }

  private static String line(Tally tally, QueueView queue) {
    return String.format(
        "sold %2d of %d   queue %2d   holder %-9s  grants %3d",
        tally.sold(), ITEMS, queue.length(), queue.holder(), tally.grants());
  }

  private static boolean summary(Tally without, Tally with, QueueView queue) {
    row("", "without a lock", "with the lock");
    row("sold, of " + ITEMS, without.sold(), with.sold());
    row("oversold", without.sold() - ITEMS, with.sold() - ITEMS);
    row("buyers told that it is sold out", without.left(), with.left());
    List<Long> tokens = queue.tokens();
    boolean rise = queue.tokensRise();
    print("%nHow the queue did, as a bystander saw it through a watch:%n");
    fact("longest queue", "%d waiting", queue.longest());
    fact("first come, first served", "%d of %d grants", queue.inOrder(), tokens.size());
    fact(
        "fencing tokens",
        "%s, %d to %d",
        rise ? "every one higher than the last" : "NOT RISING",
        tokens.get(0),
        tokens.get(tokens.size() - 1));
    fact(
        "wait for the lock",
        "%.1f s on average, %.1f s at most",
        with.meanWaitSeconds(),
        with.longestWaitSeconds());
    return rise
        && with.sold() == ITEMS
        && with.grants() == BUYERS
        && queue.inOrder() == tokens.size();
  }

  private Stock newStock(String run) throws IOException {
    Stock stock = new Stock(Files.createDirectories(directory.resolve(run)).resolve("stock"));
    stock.write(ITEMS);
    return stock;
  }

  /** Shows how it goes: over and over on one line of a terminal, once a second elsewhere. */
  private void progress(long startNanos, String text) {
    if (terminal) {
      print("\r%s", timed(startNanos, text));
    } else if (System.nanoTime() - shownNanos > TimeUnit.SECONDS.toNanos(1)) {
      shownNanos = System.nanoTime();
      print("%s%n", timed(startNanos, text));
    }
  }

  private void progressEnd(long startNanos, String text) {
    print(terminal ? "\r%s%n" : "%s%n", timed(startNanos, text));
  }

  private static String timed(long startNanos, String text) {
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    return String.format(Locale.ROOT, "   %5.1f s   %-72s", seconds, text);
  }

  private static void row(String what, Object without, Object with) {
    print("%-34s %16s %16s%n", what, without, with);
  }

  private static void fact(String what, String format, Object... values) {
    print("  %-26s %s%n", what, String.format(Locale.ROOT, format, values));
  }

  private static void print(String format, Object... values) {
    System.out.printf(Locale.ROOT, format, values);
    System.out.flush();
  }
}
