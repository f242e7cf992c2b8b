package io.lockkeeper.integration.outages;

import io.lockkeeper.integration.harness.Jar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A process of {@code lockkeeper run} whose command sleeps for as long as the lock is held. */
final class LockedSleep implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final long GOODBYE_SECONDS = 10;

  private final String lock;
  private final Process process;
  private final Path out;
  private final Path err;
  private int forgotten;

  private LockedSleep(String lock, Process process, Path out, Path err) {
    this.lock = lock;
    this.process = process;
    this.out = out;
    this.err = err;
  }

  /** Starts it, and waits for nothing. */
  static LockedSleep start(Path directory, String lock, String addresses) {
    Path out = directory.resolve(lock + ".out");
    Path err = directory.resolve(lock + ".err");
    List<String> command =
        new ArrayList<>(
            Jar.command(List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")));
    command.addAll(
        List.of(
            "run",
            lock,
            "--quiet",
            "--server=" + addresses,
            "--",
            "sh",
            "-c",
            "echo held; exec sleep 7200"));
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
      return new LockedSleep(lock, process, out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until it has the lock, and its command runs. */
  void awaitHeld() {
    Awaitility.await(lock + " is held, see " + err)
        .atMost(PATIENCE)
        .until(() -> lines(out).contains("held"));
  }

  /** Returns whether its command still runs. */
  boolean holds() {
    return process.isAlive();
  }

  /** Returns what it has said, without figures, since it was last forgotten. */
  List<String> said() {
    return lines(err).stream()
        .skip(forgotten)
        .map(
            line ->
                line.replaceFirst("lockkeeper: ", "").replaceAll("\\d+(\\.\\d+)? ?m?s\\b", "_ s"))
        .toList();
  }

  /** Forgets what it has said. */
  void forget() {
    forgotten = lines(err).size();
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends it, and its command. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(GOODBYE_SECONDS, TimeUnit.SECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return lock + " (" + String.join("; ", said()) + ")";
  }
}
