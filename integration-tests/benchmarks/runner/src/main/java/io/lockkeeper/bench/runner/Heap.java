package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** What lives in the heap of a JVM. */
final class Heap {

  private static final String JCMD =
      Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();

  private Heap() {}

  /** Has a JVM collect all garbage, and returns the bytes of what is left. */
  static long liveBytes(long pid) throws IOException {
    // Twice: what is only weakly or finally reachable goes in the second round.
    String unused = jcmd(pid, "GC.run");
    return liveBytes(jcmd(pid, "GC.class_histogram"));
  }

  /** Reads the bytes in all from a histogram of classes. */
  static long liveBytes(String histogram) {
    return histogram
        .lines()
        .filter(line -> line.startsWith("Total "))
        .map(line -> line.strip().split(" +", -1))
        .mapToLong(words -> Long.parseLong(words[words.length - 1]))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no total in: " + histogram));
  }

  private static String jcmd(long pid, String command) throws IOException {
    Process process =
        new ProcessBuilder(JCMD, Long.toString(pid), command).redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
