package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * What a lock has to protect: a counter in a file that is read, and written back a little later,
 * and a log of the tokens under which that was done.
 *
 * @param counterFile the counter
 * @param logFile the log: lines of a token and who had it
 */
public record Unprotected(Path counterFile, Path logFile) {

  private static final long PAUSE_NANOS = 2_000_000;

  /** Begins at zero. */
  public static Unprotected in(Path directory) {
    Unprotected files = existingIn(directory);
    try {
      Files.writeString(files.counterFile, "0");
      Files.writeString(files.logFile, "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  /** Returns what another process has begun. */
  public static Unprotected existingIn(Path directory) {
    return new Unprotected(directory.resolve("counter"), directory.resolve("log"));
  }

  /** Looks at the counter, and a little later again, which fails if somebody has counted. */
  public void look() {
    int before = counter();
    LockSupport.parkNanos(PAUSE_NANOS);
    int after = counter();
    if (before != after) {
      throw new IllegalStateException("counted from " + before + " to " + after + " meanwhile");
    }
  }

  /** Counts one up, which goes wrong if somebody else does at the same time. */
  public void work(long token, String client) {
    int before = counter();
    LockSupport.parkNanos(PAUSE_NANOS);
    try {
      Files.writeString(counterFile, Integer.toString(before + 1));
      Files.writeString(logFile, token + " " + client + "\n", StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns where the counter stands. */
  public int counter() {
    try {
      return Integer.parseInt(Files.readString(counterFile).trim());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the tokens in the order of the log. */
  public List<Long> tokens() {
    return lines().stream().map(line -> Long.parseLong(line[0])).toList();
  }

  /** Returns who is in the log. */
  public Set<String> clients() {
    return lines().stream().map(line -> line[1]).collect(Collectors.toSet());
  }

  private List<String[]> lines() {
    try {
      return Files.readAllLines(logFile).stream().map(line -> line.split(" ", -1)).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
