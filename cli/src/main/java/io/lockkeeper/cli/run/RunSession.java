package io.lockkeeper.cli.run;

import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Signals;
import io.lockkeeper.cli.shell.Terminal;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.QueuePlace;
import io.lockkeeper.client.ReleaseRequest;
import io.lockkeeper.client.RequestRefusedException;
import io.lockkeeper.client.ServerUnavailableException;
import java.io.PrintWriter;
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
  private static final Duration SAME_DEADLINE = Duration.ofSeconds(1);
  private static final Duration USUAL_TTL = Duration.ofSeconds(15);

  private final RunCommand command;
  private final BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect;
  private final PrintWriter err;
  private final boolean terminal;
  private final Waiting waiting;
  private final CompletableFuture<Integer> interrupted = new CompletableFuture<>();
  private volatile long grantedNanos;
  private volatile Optional<Child> child = Optional.empty();
  private volatile Optional<LockedRun> running = Optional.empty();

  RunSession(
      RunCommand command,
      BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect) {
    this.command = command;
    this.connect = connect;
    this.err = command.spec.commandLine().getErr();
    this.terminal = Terminal.isStandardError();
    this.waiting = new Waiting(err, terminal);
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
    LockHandle handle = granted.join();
    try {
      return execute(handle);
    } finally {
      close(handle);
    }
  }

  private static void close(LockHandle handle) {
    try {
      handle.close();
    } catch (LockLostException lost) {
      // It was told when it happened, and the exit code tells it too.
    }
  }

  private int execute(LockHandle handle) {
    Child started = Child.start(command.command, environment(handle));
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

  private static Map<String, String> environment(LockHandle handle) {
    return Map.of(
        "LOCKKEEPER_LOCK", handle.name(),
        "LOCKKEEPER_TOKEN", Long.toString(handle.fencingToken()),
        "LOCKKEEPER_TOKENS",
            handle.grants().stream()
                .map(grant -> grant.fencingToken() + " " + grant.name())
                .collect(Collectors.joining("\n")));
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
  public void onPlaces(List<QueuePlace> places) {
    if (!command.quiet) {
      waiting.onQueued(places);
    }
  }

  @Override
  public void onGranted(LockHandle handle) {
    grantedNanos = System.nanoTime();
  }

  @Override
  public void onReleaseRequested(LockHandle handle, ReleaseRequest request) {
    err.println("lockkeeper: " + inWords(request));
    err.flush();
  }

  private static String inWords(ReleaseRequest request) {
    String who = request.requester().isEmpty() ? "somebody" : Text.plain(request.requester());
    return who
        + " asks for the lock"
        + (request.reason().isEmpty() ? "" : ": " + Text.plain(request.reason()))
        + request
            .deadline()
            .map(left -> "; it may be taken away in " + Text.age(left))
            .orElse("; nothing is taken away by that");
  }

  @Override
  public void onJeopardy(LockHandle handle, Duration validFor) {
    running.ifPresent(run -> run.onContact(false, validFor));
  }

  @Override
  public void onSafe(LockHandle handle, Duration validFor) {
    running.ifPresent(run -> run.onContact(true, validFor));
  }

  @Override
  public void onAboutToExpire(LockHandle handle, Duration remaining) {
    if (endsByMaxHold(remaining)) {
      running.ifPresent(run -> run.onHeldForLong(remaining));
    } else {
      running.ifPresent(run -> run.onAboutToExpire(remaining));
    }
  }

  /** Returns whether the deadline in {@code remaining} is that of {@code --max-hold}. */
  private boolean endsByMaxHold(Duration remaining) {
    Duration held = Duration.ofNanos(System.nanoTime() - grantedNanos);
    return command
        .hold
        .maxHold()
        .map(limit -> limit.minus(held).minus(remaining).abs().compareTo(SAME_DEADLINE) < 0)
        .orElse(false);
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
          command.hold.request(command.lock).listener(this).reportPositionEvery(POSITION_INTERVAL);
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
    command.ttl.ifPresent(
        ttl -> DurationConverter.require("--ttl", ttl, Duration.ofSeconds(2), Duration.ofHours(1)));
    String servers =
        command.options.targets().stream().map(Object::toString).collect(Collectors.joining(","));
    try {
      LockkeeperClientBuilder builder =
          connect
              .apply(command.options, LockkeeperClient.builder(servers))
              .requestTimeout(REACH_LIMIT)
              .holder(command.holder.orElseGet(Me::atHost))
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

  /** What a server says may quote others: their names must not steer the terminal. */
  private static RuntimeException failure(Throwable error) {
    if (!(error instanceof LockkeeperException)) {
      return error instanceof RuntimeException unchecked
          ? unchecked
          : new IllegalStateException(error);
    }
    int exitCode = ExitCodes.FAILED;
    if (error instanceof NotAcquiredException) {
      exitCode = ExitCodes.NOT_ACQUIRED;
    } else if (error instanceof ServerUnavailableException) {
      exitCode = ExitCodes.UNAVAILABLE;
    }
    String whoWeAre =
        error instanceof RequestRefusedException refused ? Servers.whoWeAre(refused.code()) : "";
    return new CliException(
        exitCode, Text.plain(String.valueOf(error.getMessage())) + whoWeAre, error);
  }
}
