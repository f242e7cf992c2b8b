package io.lockkeeper.integration.fuzz;

import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Fuzzes without end, or for so many seconds, with fresh seeds or with one that is given. */
public final class Fuzz {

  private static final long ROUND_SECONDS = 60;

  private Fuzz() {}

  /**
   * Ends with 1 at the first seed that found something.
   *
   * @param args how many seconds, empty for no end; the seed, empty for fresh ones
   */
  public static void main(String[] args) {
    long seconds = args[0].isEmpty() ? Long.MAX_VALUE : Long.parseLong(args[0]);
    boolean fresh = args[1].isEmpty();
    Random seeds = new Random();
    long begunNanos = System.nanoTime();
    do {
      long left = seconds - elapsedSeconds(begunNanos);
      long seed = fresh ? seeds.nextLong() : Long.parseLong(args[1]);
      round(seed, Math.min(ROUND_SECONDS, left));
    } while (elapsedSeconds(begunNanos) < seconds);
    System.exit(0);
  }

  private static long elapsedSeconds(long sinceNanos) {
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - sinceNanos);
  }

  private static void round(long seed, long seconds) {
    System.out.println("fuzz: seed " + seed);
    try (FuzzedServer server = FuzzedServer.start()) {
      long begunNanos = System.nanoTime();
      FuzzRun.Result result = FuzzRun.of(server, seed, () -> elapsedSeconds(begunNanos) < seconds);
      System.out.printf(
          "fuzz: %d requests, %d rounds of the witness, %s%n",
          result.sent(), result.rounds(), result.ends());
      if (!result.findings().isEmpty()) {
        result.findings().forEach(System.out::println);
        System.exit(1);
      }
    }
  }
}
