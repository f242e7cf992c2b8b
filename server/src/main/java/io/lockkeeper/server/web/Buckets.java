package io.lockkeeper.server.web;

import java.time.Duration;
import java.util.stream.LongStream;

/** The bounds of the buckets of histograms. Each bound is a series for each set of labels. */
final class Buckets {

  /** Of what the coordinator and ZooKeeper take: 100 us to a minute. */
  private static final Duration[] MACHINE =
      micros(
          100,
          500,
          1_000,
          2_500,
          5_000,
          10_000,
          25_000,
          50_000,
          100_000,
          250_000,
          500_000,
          1_000_000,
          5_000_000,
          30_000_000,
          60_000_000);

  /** Of what clients take: a millisecond to two hours. */
  private static final Duration[] CLIENT =
      micros(
          1_000,
          5_000,
          10_000,
          25_000,
          50_000,
          100_000,
          250_000,
          500_000,
          1_000_000,
          2_500_000,
          5_000_000,
          10_000_000,
          30_000_000,
          60_000_000,
          300_000_000,
          1_800_000_000,
          7_200_000_000L);

  private static final double[] COUNTS = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 10_000};

  private Buckets() {}

  /** Returns those of what the coordinator and ZooKeeper take. */
  static Duration[] ofMachine() {
    return MACHINE.clone();
  }

  /** Returns those of what clients take. */
  static Duration[] ofClients() {
    return CLIENT.clone();
  }

  /** Returns those of how many there are. */
  static double[] ofCounts() {
    return COUNTS.clone();
  }

  private static Duration[] micros(long... bounds) {
    return LongStream.of(bounds)
        .mapToObj(micros -> Duration.ofNanos(micros * 1_000))
        .toArray(Duration[]::new);
  }
}
