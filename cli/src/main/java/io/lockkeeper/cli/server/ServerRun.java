package io.lockkeeper.cli.server;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Signals;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a server up until it is told to stop, or cannot go on. */
final class ServerRun implements AutoCloseable {

  private static final int INTERRUPTED = 130;
  private static final int BROKEN = 70;
  private static final long STOP_LIMIT_SECONDS = 20;
  private static final Pattern OURS = Pattern.compile("main|lockkeeper|zookeeper-store");
  private static final Logger log = LoggerFactory.getLogger(ServerRun.class);

  private final CompletableFuture<Integer> end = new CompletableFuture<>();

  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Signals signals;
  private final Signals hangUps;

  /** From now on, TERM, INT and HUP end {@link #await}; a second one ends the process at once. */
  ServerRun() {
    this(Optional.empty());
  }

  /**
   * From now on, TERM and INT end {@link #await}; a second one ends the process at once.
   *
   * @param onHangUp what to do on each HUP; one that comes before this is known waits for it
   */
  ServerRun(CompletableFuture<? extends Runnable> onHangUp) {
    this(Optional.of(onHangUp));
  }

  private ServerRun(Optional<CompletableFuture<? extends Runnable>> onHangUp) {
    Thread limit = new Thread(this::limitStop, "lockkeeper-stop-limit");
    limit.setDaemon(true);
    limit.start();
    signals = new Signals(name -> onSignal(), "TERM", "INT");
    hangUps = new Signals(name -> onHangUp(onHangUp), "HUP");
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
    try {
      log.atError()
          .addKeyValue("thread", thread.getName())
          .setCause(error)
          .log("a thread has died of what nobody expected");
    } finally {
      // Even where logging fails: no memory, or no more classes because the jar was replaced under
      // us.
      if (error instanceof VirtualMachineError || OURS.matcher(thread.getName()).lookingAt()) {
        Runtime.getRuntime().halt(BROKEN);
      }
    }
  }

  /** Whatever hangs when it should stop: the process ends, and its sessions with their timeout. */
  private void limitStop() {
    try {
      end.handle((code, failure) -> true).join();
      if (!stopped.await(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        Runtime.getRuntime().halt(BROKEN);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void onSignal() {
    if (!end.complete(ExitCodes.OK)) {
      Runtime.getRuntime().halt(INTERRUPTED);
    }
  }

  private void onHangUp(Optional<CompletableFuture<? extends Runnable>> action) {
    if (action.isEmpty()) {
      onSignal();
    } else {
      CompletableFuture<Void> unused = action.get().thenAccept(Runnable::run);
    }
  }

  /** Completes when {@link #await} is to end: a start that is not finished should be cancelled. */
  CompletableFuture<Integer> end() {
    return end;
  }

  /** Ends {@link #await} with a failure; the first end counts. */
  void fail(String message) {
    fail(ExitCodes.FAILED, message);
  }

  private void fail(int exitCode, String message) {
    end.completeExceptionally(new CliException(exitCode, message));
  }

  /**
   * Returns when the server is to be stopped.
   *
   * @param failure completes with what makes ZooKeeper unfit to be used
   */
  int await(CompletableFuture<String> failure) {
    // Only now: the embedded ZooKeeper sets one of its own when it starts.
    Thread.setDefaultUncaughtExceptionHandler(ServerRun::onUncaught);
    CompletableFuture<Void> unused =
        failure.thenAccept(message -> fail(ExitCodes.UNFIT_ZOOKEEPER, message));
    try {
      return end.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof CliException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /** Lets signals end the process again. */
  @Override
  public void close() {
    stopped.countDown();
    end.complete(ExitCodes.OK);
    signals.close();
    hangUps.close();
  }
}
