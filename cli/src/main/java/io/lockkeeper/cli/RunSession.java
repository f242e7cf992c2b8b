package io.lockkeeper.cli;

import io.grpc.ManagedChannel;
import io.lockkeeper.client.Contender;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.ServerUnavailableException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** One {@code run} from its lock request to the command's end. */
final class RunSession implements LockListener {

  private static final int SIGNAL_BASE = 128;
  private static final Duration REACH_LIMIT = Duration.ofSeconds(10);
  private static final Duration POSITION_INTERVAL = Duration.ofSeconds(1);
  private static final Duration USUAL_TTL = Duration.ofSeconds(15);

  private final RunCommand command;
  private final BiFunction<ServerOptions, String, ManagedChannel> channels;
  private final PrintWriter err;
  private final boolean terminal;
  private final Waiting waiting;
  private final CompletableFuture<Integer> interrupted = new CompletableFuture<>();
  private volatile Optional<Child> child = Optional.empty();
  private volatile Optional<LockedRun> running = Optional.empty();

  RunSession(RunCommand command, BiFunction<ServerOptions, String, ManagedChannel> channels) {
    this.command = command;
    this.channels = channels;
    this.err = command.spec.commandLine().getErr();
    this.terminal = Terminal.isStandardError();
    this.waiting = new Waiting(err, command.lock, terminal);
  }

  /** Returns the exit code to end with. */
  int run() {
    LockRequest request = request();
    Signals signals = new Signals(this::onSignal, "TERM", "INT", "HUP");
    try (LockkeeperClient client = client()) {
      return acquireAndExecute(client, request);
    } catch (CompletionException e) {
      throw failure(e.getCause() == null ? e : e.getCause());
    } catch (LockkeeperException e) {
      throw failure(e);
    } finally {
      waiting.close();
      signals.close();
    }
  }

  private int acquireAndExecute(LockkeeperClient client, LockRequest request) {
    CompletableFuture<LockHandle> granted = client.acquire(request);
    CompletableFuture.anyOf(granted, interrupted).handle((value, error) -> value).join();
    waiting.close();
    if (interrupted.isDone()) {
      granted.cancel(false);
      return interrupted.join();
    }
    try (LockHandle handle = granted.join()) {
      return execute(handle);
    }
  }

  private int execute(LockHandle handle) {
    Map<String, String> environment =
        Map.of(
            "LOCKKEEPER_LOCK", handle.name(),
            "LOCKKEEPER_TOKEN", Long.toString(handle.fencingToken()));
    Child started = Child.start(command.command, environment);
    child = Optional.of(started);
    try {
      return guard(started, handle);
    } catch (RuntimeException | Error e) {
      // The lock is closed next, and nothing of the command may be left by then.
      started.kill();
      int unused = started.exit().join();
      throw e;
    }
  }

  private int guard(Child started, LockHandle handle) {
    LockedRun run = new LockedRun(started, command.onLost, command.killAfter, err);
    running = Optional.of(run);
    if (interrupted.isDone()) {
      started.terminate();
    }
    CompletionStage<Void> unused = handle.lost().thenAccept(run::onLost);
    Watchdog watchdog = command.watchdogs.apply(started, command.killAfter);
    try {
      return run.await(handle);
    } finally {
      watchdog.close();
    }
  }

  @Override
  public void onQueued(int ahead, List<Contender> holders) {
    if (!command.quiet) {
      waiting.onQueued(ahead, holders);
    }
  }

  @Override
  public void onAboutToExpire(LockHandle handle, Duration remaining) {
    running.ifPresent(run -> run.onAboutToExpire(remaining));
  }

  private void onSignal(String name) {
    int exitCode = SIGNAL_BASE + Map.of("HUP", 1, "INT", 2, "TERM", 15).getOrDefault(name, 0);
    interrupted.complete(exitCode);
    // A terminal sends INT to the command as well as to us; twice would be a different order to
    // many programs.
    if (!(name.equals("INT") && terminal)) {
      child.ifPresent(c -> c.signal(name));
    }
  }

  private LockRequest request() {
    try {
      LockRequest request =
          LockRequest.of(command.lock).listener(this).reportPositionEvery(POSITION_INTERVAL);
      if (command.wait.isPresent()) {
        request = request.waitAtMost(command.wait.get());
      }
      if (command.note.isPresent()) {
        request = request.metadata("note", command.note.get());
      }
      return request;
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private LockkeeperClient client() {
    String servers =
        command.options.addresses().stream().map(Object::toString).collect(Collectors.joining(","));
    try {
      LockkeeperClientBuilder builder =
          LockkeeperClient.builder(servers)
              .channels(address -> channels.apply(command.options, address))
              .requestTimeout(REACH_LIMIT)
              .holder(command.holder.orElseGet(RunSession::userAtHost))
              .expiryWarning(warning());
      command.ttl.ifPresent(builder::ttl);
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Returns how long before the deadline TERM is due: kill-after, and no more than a third of the
   * TTL.
   */
  private Duration warning() {
    Duration third = command.ttl.orElse(USUAL_TTL).dividedBy(3);
    return command.killAfter.compareTo(third) < 0 ? command.killAfter : third;
  }

  private RuntimeException failure(Throwable error) {
    if (error instanceof NotAcquiredException) {
      return new CliException(ExitCodes.NOT_ACQUIRED, String.valueOf(error.getMessage()), error);
    }
    if (error instanceof ServerUnavailableException) {
      return new CliException(ExitCodes.UNAVAILABLE, String.valueOf(error.getMessage()), error);
    }
    if (error instanceof LockkeeperException) {
      return new CliException(ExitCodes.FAILED, String.valueOf(error.getMessage()), error);
    }
    return error instanceof RuntimeException unchecked
        ? unchecked
        : new IllegalStateException(error);
  }

  private static String userAtHost() {
    String user = System.getProperty("user.name", "somebody");
    try {
      return user + "@" + InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return user;
    }
  }
}
