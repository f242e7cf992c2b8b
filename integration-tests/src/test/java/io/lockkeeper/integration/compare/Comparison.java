package io.lockkeeper.integration.compare;

import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Acquires and releases a second, Lockkeeper beside Curator's InterProcessMutex: the same ZooKeeper
 * process with its forced writes to disk, each side's clients in a JVM of its own, rounds of both
 * in turn after a warm-up, medians.
 */
public final class Comparison {

  private static final List<Case> CASES =
      List.of(new Case(1, false), new Case(64, false), new Case(256, false), new Case(64, true));

  private record Case(int clients, boolean oneLock) {

    @Override
    public String toString() {
      return clients
          + (clients == 1 ? " client" : " clients")
          + (oneLock ? ", one lock" : ", own locks");
    }
  }

  /** One side's JVM. */
  private record Side(Process process, BufferedReader answers) {

    static Side start(Class<?> load, String target) throws IOException {
      Process process =
          new ProcessBuilder(
                  Jar.JAVA,
                  "-Xmx512m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  load.getName(),
                  target)
              .redirectError(Redirect.INHERIT)
              .start();
      BufferedReader answers =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      for (String line = answers.readLine(); !"ready".equals(line); line = answers.readLine()) {
        if (line == null) {
          throw new IOException(load.getSimpleName() + " does not start");
        }
      }
      return new Side(process, answers);
    }

    double measure(Case what, long millis) throws IOException {
      String order = what.clients + " " + what.oneLock + " " + millis + "\n";
      process.getOutputStream().write(order.getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
      for (String line = answers.readLine(); line != null; line = answers.readLine()) {
        if (line.startsWith(Load.ANSWER)) {
          return Double.parseDouble(line.substring(Load.ANSWER.length()));
        }
      }
      throw new IOException("no answer to " + what);
    }
  }

  private Comparison() {}

  /** Arguments: rounds (5) and milliseconds of each measurement (3000). */
  public static void main(String[] arguments) throws IOException {
    int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
    long millis = arguments.length > 1 ? Long.parseLong(arguments[1]) : 3_000;
    try (ZooKeeperProcess zookeeper = startZooKeeper();
        ServerProcess server =
            ServerProcess.startFast(zookeeper.connectString(), "--log-level=warn")) {
      Side ours = Side.start(LockkeeperLoad.class, Integer.toString(server.port()));
      Side curator = Side.start(CuratorLoad.class, zookeeper.connectString());
      System.out.printf(
          Locale.ROOT,
          "%d rounds of %.1f s each, %d CPUs, ZooKeeper with fsync%n%n",
          rounds,
          millis / 1e3,
          Runtime.getRuntime().availableProcessors());
      System.out.printf(
          Locale.ROOT,
          "%-24s %12s %12s %8s   %s%n",
          "acquire+release a second",
          "Lockkeeper",
          "Curator",
          "ratio",
          "rounds");
      for (Case what : CASES) {
        compare(what, ours, curator, rounds, millis);
      }
      ours.process.destroyForcibly();
      curator.process.destroyForcibly();
    }
  }

  private static void compare(Case what, Side ours, Side curator, int rounds, long millis)
      throws IOException {
    ours.measure(what, millis);
    curator.measure(what, millis);
    List<Double> mine = new ArrayList<>();
    List<Double> theirs = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      mine.add(ours.measure(what, millis));
      theirs.add(curator.measure(what, millis));
    }
    System.out.printf(
        Locale.ROOT,
        "%-24s %,12.0f %,12.0f %7.1fx   %s / %s%n",
        what,
        median(mine),
        median(theirs),
        median(mine) / median(theirs),
        spread(mine),
        spread(theirs));
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static String spread(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    return String.format(Locale.ROOT, "%.0f-%.0f", sorted.get(0), sorted.get(sorted.size() - 1));
  }

  private static ZooKeeperProcess startZooKeeper() {
    return ZooKeeperProcess.in(Scratch.directory("zookeeper"))
        .configuration("tickTime", "2000")
        .systemProperty("zookeeper.forceSync", "yes")
        .systemProperty("zookeeper.preAllocSize", "65536")
        .start();
  }
}
