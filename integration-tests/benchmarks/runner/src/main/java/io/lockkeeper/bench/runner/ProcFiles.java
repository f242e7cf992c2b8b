package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What Linux tells of a process under {@code /proc}. */
final class ProcFiles {

  private static final double TICKS_PER_SECOND = 100; // The same on every Linux: USER_HZ.
  private static final Pattern COMPILER = Pattern.compile("\\(C[12] Compiler");
  private static final int UTIME = 11;
  private static final int STIME = 12;

  private ProcFiles() {}

  /** Returns the seconds of processor that a process has taken so far, to a hundredth. */
  static double cpuSeconds(long pid) throws IOException {
    return cpuSeconds(Files.readString(Path.of("/proc", Long.toString(pid), "stat")));
  }

  /** Reads the same from a line of {@code /proc/PID/stat}. */
  static double cpuSeconds(String stat) {
    // The name before it is in parentheses, and may have anything in it.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[UTIME]) + Long.parseLong(fields[STIME])) / TICKS_PER_SECOND;
  }

  /** Returns the seconds of processor that a JVM's compilers have taken so far; zero of others. */
  static double compilerSeconds(long pid) throws IOException {
    double seconds = 0;
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path thread : threads.toList()) {
        seconds += compilerSeconds(thread);
      }
    }
    return seconds;
  }

  private static double compilerSeconds(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"));
      return COMPILER.matcher(stat).find() ? cpuSeconds(stat) : 0;
    } catch (IOException e) {
      return 0; // It has ended since it was listed.
    }
  }

  /** Returns how many threads a process has. */
  static int threads(long pid) throws IOException {
    return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
        .filter(line -> line.startsWith("Threads:"))
        .map(line -> Integer.parseInt(line.substring("Threads:".length()).trim()))
        .findFirst()
        .orElseThrow();
  }
}
