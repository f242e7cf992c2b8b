package io.lockkeeper.integration.compare;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Clients that take and release locks as fast as they can, in a JVM of their own that is told what
 * to do line by line.
 */
abstract class Load {

  /** What an answer begins with. */
  static final String ANSWER = "a second: ";

  private final LongAdder pairs = new LongAdder();

  /**
   * Starts the clients, each on its own lock or all on one; returns what stops them and waits until
   * they have stopped.
   */
  abstract AutoCloseable start(int clients, boolean oneLock) throws Exception;

  /** Counts one acquire and its release. */
  final void count() {
    pairs.increment();
  }

  /**
   * Reads lines of clients, whether on one lock, and milliseconds; answers each with acquires and
   * releases a second.
   */
  final void obey() throws Exception {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println("ready");
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", -1);
      System.out.println(
          ANSWER
              + measure(
                  Integer.parseInt(words[0]),
                  Boolean.parseBoolean(words[1]),
                  Long.parseLong(words[2])));
    }
  }

  private double measure(int clients, boolean oneLock, long millis) throws Exception {
    AutoCloseable running = start(clients, oneLock);
    pause(millis / 4); // Until all are at work.
    long before = pairs.sum();
    long startNanos = System.nanoTime();
    pause(millis);
    long done = pairs.sum() - before;
    long nanos = System.nanoTime() - startNanos;
    running.close();
    return done * 1e9 / nanos;
  }

  private static void pause(long millis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(millis);
  }

  /** Returns the lock of a client. */
  static String lock(int client, boolean oneLock) {
    return oneLock ? "compare/one" : "compare/own-" + client;
  }
}
