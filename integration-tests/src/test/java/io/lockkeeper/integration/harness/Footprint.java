package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What a coordinator takes of its machine.
 *
 * @param heapBytes the heap that is in use after everything unreachable is gone
 * @param otherBytes the memory that it has beside the heap: buffers, threads, code; right where all
 *     of the heap was touched at the start
 * @param threads its threads
 * @param files its open files, sockets included
 */
public record Footprint(long heapBytes, long otherBytes, int threads, int files) {

  private static final double MB = 1 << 20;

  @Override
  public String toString() {
    return String.format(
        "heap %.1f MB, other memory %.1f MB, %d threads, %d files",
        heapBytes / MB, otherBytes / MB, threads, files);
  }

  /** Measures, after a full collection of garbage. */
  public static Footprint of(ServerProcess server) {
    collectGarbage(server.pid());
    return new Footprint(
        (long) server.metric("jvm_memory_used_bytes{area=\"heap\""),
        residentBytes(server.pid())
            - (long) server.metric("jvm_memory_committed_bytes{area=\"heap\""),
        count(server.pid(), "task"),
        count(server.pid(), "fd"));
  }

  private static void collectGarbage(long pid) {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    try {
      Process process =
          new ProcessBuilder(jcmd.toString(), Long.toString(pid), "GC.run")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IllegalStateException("jcmd failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static long residentBytes(long pid) {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "status"))) {
      String line = lines.filter(each -> each.startsWith("VmRSS:")).findFirst().orElseThrow();
      return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int count(long pid, String what) {
    try (Stream<Path> all = Files.list(Path.of("/proc", Long.toString(pid), what))) {
      return (int) all.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
