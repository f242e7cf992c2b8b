package io.lockkeeper.bench.runner;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * How evenly namespaces spread over shards: a simulation of load by popularity, of which the n-th
 * namespace has 1/n of the first one's. A shard can take no more than it has room for, so the
 * fullest shard says how much of the whole can be used.
 */
public final class ShardBalance {

  private static final long MIX = 0x9e3779b97f4a7c15L;

  private ShardBalance() {}

  /**
   * Returns the fullest shard's load over the mean.
   *
   * @param namespaces how many there are
   * @param shards how many ensembles
   * @param placed how many of the heaviest are placed by hand, each on the emptiest shard; the
   *     others go where their hash says
   * @param cut whether a namespace with more than half of what a shard has on average is cut into
   *     namespaces with less
   * @param seed of the hash
   */
  static double fullest(int namespaces, int shards, int placed, boolean cut, long seed) {
    double sum = IntStream.rangeClosed(1, namespaces).mapToDouble(i -> 1.0 / i).sum();
    double mean = sum / shards;
    double[] load = new double[shards];
    int number = 0;
    for (int i = 1; i <= namespaces; i++) {
      int pieces = cut ? (int) Math.ceil(1.0 / i / (mean / 2)) : 1;
      for (int piece = 0; piece < pieces; piece++) {
        int shard = number < placed ? emptiest(load) : rendezvous(number, shards, seed);
        load[shard] += 1.0 / i / pieces;
        number++;
      }
    }
    return Arrays.stream(load).max().orElseThrow() / mean;
  }

  private static int emptiest(double[] load) {
    int best = 0;
    for (int i = 1; i < load.length; i++) {
      best = load[i] < load[best] ? i : best;
    }
    return best;
  }

  /** Returns the shard with the highest hash: a shard more or less moves no other namespace. */
  static int rendezvous(int namespace, int shards, long seed) {
    int best = 0;
    long highest = Long.MIN_VALUE;
    for (int shard = 0; shard < shards; shard++) {
      long hash = mixed(mixed(seed + namespace) + shard);
      if (hash > highest) {
        highest = hash;
        best = shard;
      }
    }
    return best;
  }

  private static long mixed(long value) {
    long z = (value + 1) * MIX;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /**
   * Prints a table: medians over 101 hashes; with arguments, one row of so many namespaces and
   * shards, over 5 hashes.
   */
  public static void main(String[] arguments) {
    System.out.println(
        "namespaces  shards     hashed  4 a shard by hand  cut  cut, 4 a shard by hand");
    if (arguments.length > 0) {
      print(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), 5);
      return;
    }
    for (int namespaces : new int[] {1_000, 100_000}) {
      for (int shards : new int[] {2, 10, 100}) {
        print(namespaces, shards, 101);
      }
    }
  }

  private static void print(int namespaces, int shards, int hashes) {
    System.out.printf(
        Locale.ROOT,
        "%10d  %6d  %9.2f  %17.2f  %3.2f  %22.2f%n",
        namespaces,
        shards,
        median(namespaces, shards, 0, false, hashes),
        median(namespaces, shards, 4 * shards, false, hashes),
        median(namespaces, shards, 0, true, hashes),
        median(namespaces, shards, 4 * shards, true, hashes));
  }

  private static double median(int namespaces, int shards, int placed, boolean cut, int hashes) {
    return LongStream.range(0, hashes)
        .parallel()
        .mapToDouble(seed -> fullest(namespaces, shards, placed, cut, seed))
        .sorted()
        .skip(hashes / 2)
        .findFirst()
        .orElseThrow();
  }
}
