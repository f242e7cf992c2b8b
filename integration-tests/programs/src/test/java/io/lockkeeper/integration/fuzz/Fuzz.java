package io.lockkeeper.integration.fuzz;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Fuzzes fresh coordinators without end, or for so many seconds, with fresh seeds or with one that
 * is given; or the same ones for so many minutes.
 */
public final class Fuzz {

  private static final long ROUND_SECONDS = 60;

  private Fuzz() {}

  /**
   * Ends with 1 at the first seed that found something.
   *
   * @param args how many seconds, empty for no end; the seed, empty for fresh ones; how many
   *     minutes the same coordinators are to endure it, empty for fresh ones each time
   */
  public static void main(String[] args) {
    long seconds = args[0].isEmpty() ? Long.MAX_VALUE : Long.parseLong(args[0]);
    boolean fresh = args[1].isEmpty();
    Random seeds = fresh ? new Random() : new Random(Long.parseLong(args[1]));
    if (!args[2].isEmpty()) {
      endure(Long.parseLong(args[2]), seeds);
    }
    long begunNanos = System.nanoTime();
    do {
      long left = seconds - elapsedSeconds(begunNanos);
      long seed = fresh ? seeds.nextLong() : Long.parseLong(args[1]);
      round(seed, Math.min(ROUND_SECONDS, left));
    } while (elapsedSeconds(begunNanos) < seconds);
    System.exit(0);
  }

  private static void endure(long minutes, Random seeds) {
    try (FuzzedCluster cluster = FuzzedCluster.start()) {
      List<String> findings = Endurance.of(cluster, minutes, seeds);
      findings.forEach(System.out::println);
      System.exit(findings.isEmpty() ? 0 : 1);
    }
  }

  private static long elapsedSeconds(long sinceNanos) {
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - sinceNanos);
  }

  private static void round(long seed, long seconds) {
    System.out.println("fuzz: seed " + seed);
    try (FuzzedCluster cluster = FuzzedCluster.start()) {
      FuzzRun.Result result = FuzzRun.of(cluster, seed, FuzzRun.forSeconds(seconds));
      System.out.println("fuzz: " + result);
      if (!result.findings().isEmpty()) {
        result.findings().forEach(System.out::println);
        System.exit(1);
      }
    }
  }
}
