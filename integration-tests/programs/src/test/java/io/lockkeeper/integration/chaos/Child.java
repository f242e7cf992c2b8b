package io.lockkeeper.integration.chaos;

import io.lockkeeper.server.testing.Signals;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A process of the harness, its output appended to a log. It dies with the harness. */
final class Child {

  private static final long DEATH_SECONDS = 20;

  private final Process process;

  private Child(Process process) {
    this.process = process;
  }

  /** Starts a program. */
  static Child start(List<String> command, Path log) {
    File output = log.toFile();
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(log.getParent().toFile())
            .redirectErrorStream(true)
            .redirectOutput(Redirect.appendTo(output));
    try {
      Process process = builder.start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
      return new Child(process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends a signal, if the process is there to get it. */
  void signal(String name) {
    if (process.isAlive()) {
      Signals.send(process.pid(), name);
    }
  }

  /** Returns the class path of this process, as one in another directory needs it. */
  static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Writes a line to the standard input; a dead process hears nothing. */
  void tell(String line) {
    if (!process.isAlive()) {
      return;
    }
    try {
      OutputStream input = process.getOutputStream();
      input.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      input.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills the process with SIGKILL and returns when it is dead. */
  void kill() {
    process.destroyForcibly();
    if (!awaitExit(DEATH_SECONDS)) {
      throw new IllegalStateException("process " + process.pid() + " does not die");
    }
  }

  /** Waits for the end of the process; says whether it came. */
  boolean awaitExit(long seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Returns the exit code of a process that has ended. */
  int exitCode() {
    return process.exitValue();
  }
}
