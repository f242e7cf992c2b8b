package io.lockkeeper.cli;

import io.lockkeeper.server.app.LockkeeperServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.LoggerFactory;

/** Keeps a server up until it is told to stop, or cannot go on. */
final class ServerRun implements AutoCloseable {

  private static final int INTERRUPTED = 130;
  private static final int BROKEN = 70;

  private final CompletableFuture<Integer> end = new CompletableFuture<>();

  private final Signals signals;

  /** From now on, TERM and INT end {@link #await}; a second one ends the process without ado. */
  ServerRun() {
    signals = new Signals(name -> onSignal(), "TERM", "INT");
    if (!signals.isComplete()) {
      // Then a signal starts the JVM's own shutdown; what runs in a finally block may not get its
      // time.
      Runtime.getRuntime().addShutdownHook(new Thread(this::onSignal, "lockkeeper-shutdown"));
    }
  }

  /**
   * A coordinator that lacks a thread, or memory, must not keep sessions alive that nobody serves.
   */
  private static void onUncaught(Thread thread, Throwable error) {
    LoggerFactory.getLogger(ServerRun.class)
        .atError()
        .addKeyValue("thread", thread.getName())
        .setCause(error)
        .log("a thread has died of what nobody expected");
    if (error instanceof VirtualMachineError || thread.getName().startsWith("lockkeeper-")) {
      Runtime.getRuntime().halt(BROKEN);
    }
  }

  private void onSignal() {
    if (!end.complete(ExitCodes.OK)) {
      Runtime.getRuntime().halt(INTERRUPTED);
    }
  }

  /** Ends {@link #await} with a failure; the first end counts. */
  void fail(String message) {
    end.completeExceptionally(new CliException(ExitCodes.FAILED, message));
  }

  /** Returns when the server is to be stopped. */
  int await(LockkeeperServer server) {
    // Only now: the embedded ZooKeeper sets one of its own when it starts.
    Thread.setDefaultUncaughtExceptionHandler(ServerRun::onUncaught);
    CompletableFuture<Void> unused = server.failure().thenAccept(this::fail);
    try {
      return end.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof CliException failure) {
        throw failure;
      }
      throw e;
    }
  }

  /** Lets signals end the process again. */
  @Override
  public void close() {
    signals.close();
  }
}
