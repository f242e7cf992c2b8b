package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.harness.Jar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.regex.Pattern;

/**
 * Threads and used memory of a process, after a garbage collection.
 *
 * @param threads how many threads
 * @param heapKib used heap
 */
record Resources(long threads, long heapKib) {

  /** Threads that gRPC and the JVM start when there is load, and keep for a while. */
  private static final long MORE_THREADS = 16;

  /** Classes' caches, buffers that grew under load. */
  private static final long MORE_HEAP_KIB = 24 * 1024;

  private static final Pattern USED =
      Pattern.compile("(?:def new|tenured) generation\\s+total \\d+K, used (\\d+)K");

  /** Measures a process. */
  static Resources of(long pid) {
    jcmd(pid, "GC.run");
    long used =
        USED.matcher(jcmd(pid, "GC.heap_info"))
            .results()
            .mapToLong(result -> Long.parseLong(result.group(1)))
            .sum();
    long threads = jcmd(pid, "Thread.print").lines().filter(line -> line.startsWith("\"")).count();
    if (used == 0 || threads == 0) {
      throw new IllegalStateException("jcmd tells nothing of process " + pid);
    }
    return new Resources(threads, used);
  }

  /** Returns the larger of each. */
  static Resources most(Collection<Resources> all) {
    return all.stream()
        .reduce(
            (a, b) -> new Resources(Math.max(a.threads, b.threads), Math.max(a.heapKib, b.heapKib)))
        .orElseThrow();
  }

  /** Writes down how this compares with what was before. */
  void record(String who, Resources before, History history) {
    compare(history, who, "threads", before.threads, threads, MORE_THREADS);
    compare(history, who, "heap KiB", before.heapKib, heapKib, MORE_HEAP_KIB);
  }

  private static void compare(
      History history, String who, String what, long before, long after, long more) {
    history
        .line("resource")
        .with("process", who)
        .with("what", what)
        .with("before", before)
        .with("after", after)
        .with("limit", before + more)
        .write();
  }

  private static String jcmd(long pid, String command) {
    String program = Path.of(Jar.JAVA).resolveSibling("jcmd").toString();
    try {
      Process process =
          new ProcessBuilder(program, Long.toString(pid), command)
              .redirectErrorStream(true)
              .start();
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
