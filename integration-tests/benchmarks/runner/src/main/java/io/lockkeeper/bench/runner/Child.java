package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that was started here and ends with this one. */
final class Child implements AutoCloseable {

  private static final int PATIENCE_SECONDS = 20;

  private final String name;
  private final Process process;
  private final Path log;

  private Child(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
  }

  /** Starts a process whose output goes to a file. */
  static Child start(String name, Path directory, List<String> command) throws IOException {
    Path log = directory.resolve(name + ".log");
    return start(
        name,
        log,
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile()));
  }

  /** Starts a process whose errors go to a file, and whose output is read here. */
  static Child startTalking(String name, Path directory, List<String> command) throws IOException {
    Path log = directory.resolve(name + ".log");
    return start(
        name,
        log,
        new ProcessBuilder(command).directory(directory.toFile()).redirectError(log.toFile()));
  }

  private static Child start(String name, Path log, ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    return new Child(name, process, log);
  }

  String name() {
    return name;
  }

  Process process() {
    return process;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  Path log() {
    return log;
  }

  /** Waits until something is so, as long as the process lives and two minutes at most. */
  void await(String what, Condition condition) throws IOException, InterruptedException {
    for (int tries = 0; tries < 2_400; tries++) {
      if (!process.isAlive()) {
        throw new IOException(name + " has ended with " + process.exitValue() + ": see " + log);
      }
      if (condition.holds()) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new IOException(name + ": not " + what + " in time: see " + log);
  }

  /** Waits for a process that ends by itself, and well. */
  void awaitEnd() throws IOException, InterruptedException {
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IOException(name + " has not ended well: see " + log);
    }
  }

  /** Something to wait for. */
  interface Condition {
    /** Returns whether it is so by now. */
    boolean holds() throws IOException;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(name + " would not die: " + process.pid());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
