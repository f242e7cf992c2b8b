package io.lockkeeper.integration.harness;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The file descriptors of a running process, exhausted until this is closed: its limit is lowered
 * to what it has, and strangers wait in line for every one that it gives back.
 */
public final class Descriptors implements AutoCloseable {

  /** What a process may still open, so that it fails in the midst of things. */
  private static final int SPARE = 4;

  /** No more than a listener keeps waiting. */
  private static final int STRANGERS = 40;

  private final long pid;
  private final String before;
  private final List<Socket> strangers = new ArrayList<>();

  private Descriptors(long pid, String before) {
    this.pid = pid;
    this.before = before;
  }

  /** Leaves a process none; {@code port} is one at which it takes connections. */
  public static Descriptors exhaust(long pid, int port) {
    String[] open = new File("/proc/" + pid + "/fd").list();
    if (open == null) {
      throw new IllegalStateException("no process " + pid);
    }
    Descriptors descriptors =
        new Descriptors(
            pid, prlimit(pid, "--nofile", "--output=SOFT", "--noheadings", "--raw").strip());
    prlimit(pid, "--nofile=" + (open.length + SPARE) + ":");
    try {
      for (int i = 0; i < STRANGERS; i++) {
        descriptors.strangers.add(new Socket(InetAddress.getLoopbackAddress(), port));
      }
    } catch (IOException e) {
      descriptors.close();
      throw new UncheckedIOException(e);
    }
    return descriptors;
  }

  /** Returns how many wait in line. */
  public int strangers() {
    return strangers.size();
  }

  private static String prlimit(long pid, String... arguments) {
    List<String> command = new ArrayList<>(List.of("prlimit", "--pid", Long.toString(pid)));
    command.addAll(List.of(arguments));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command + ": " + said);
      }
      return said;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Gives them back, if the process still runs. */
  @Override
  public void close() {
    if (new File("/proc/" + pid).exists()) {
      prlimit(pid, "--nofile=" + before + ":");
    }
    for (Socket stranger : strangers) {
      try {
        stranger.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
