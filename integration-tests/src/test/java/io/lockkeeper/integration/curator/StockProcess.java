package io.lockkeeper.integration.curator;

import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Unprotected;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;

/** A service in a JVM of its own, which sells without a pause until it is told to stop. */
final class StockProcess implements AutoCloseable {

  private final Process process;
  private final Path errors;
  private final String name;

  private StockProcess(Process process, Path errors, String name) {
    this.process = process;
    this.errors = errors;
    this.name = name;
  }

  /** Arguments: {@code curator} or {@code lockkeeper}, its address, the store, and a name. */
  public static void main(String[] arguments) throws Exception {
    String address = arguments[1];
    Unprotected store = Unprotected.existingIn(Path.of(arguments[2]));
    String name = arguments[3];
    try (Stock stock =
        arguments[0].equals("curator")
            ? new StockOnCurator(address, store, name)
            : new StockOnLockkeeper(address, store, name)) {
      CompletableFuture<Void> told = CompletableFuture.runAsync(StockProcess::awaitEndOfInput);
      while (!told.isDone()) {
        stock.sell();
      }
    }
  }

  /** Its input ends when it is to stop, and when the test is no more. */
  private static void awaitEndOfInput() {
    try {
      System.in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts the version that uses Curator. */
  static StockProcess onCurator(String zookeeper, Path store, String name) {
    return start("curator", zookeeper, store, name);
  }

  /** Starts the version that uses Lockkeeper. */
  static StockProcess onLockkeeper(String servers, Path store, String name) {
    return start("lockkeeper", servers, store, name);
  }

  private static StockProcess start(String version, String address, Path store, String name) {
    Path errors = Scratch.directory("stock-" + name).resolve("stderr");
    List<String> line = Jar.ofTests(StockProcess.class, version, address, store.toString(), name);
    try {
      Process process = new ProcessBuilder(line).redirectError(errors.toFile()).start();
      process.getInputStream().close();
      return new StockProcess(process, errors, name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String name() {
    return name;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Has the service finish what it is at and end, as an orderly restart does. */
  void stop() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Awaitility.await("end of " + name).until(() -> !process.isAlive());
    if (process.exitValue() != 0) {
      throw new AssertionError(name + " ended with " + process.exitValue() + "; see " + errors);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
