package io.lockkeeper.cli.run;

import io.lockkeeper.cli.call.ClientFailures;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Signals;
import io.lockkeeper.cli.shell.Terminal;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.QueuePlace;
import io.lockkeeper.client.ReleaseRequest;
import io.lockkeeper.client.ReleaseResult;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Waits for locks, and does something while they are held. */
final class LockSession implements LockListener {

  private static final int SIGNAL_BASE = 128;
  private static final Duration REACH_LIMIT = Duration.ofSeconds(30);
  private static final Duration RELEASE_LIMIT = Duration.ofSeconds(10);
  private static final Duration POSITION_INTERVAL = Duration.ofSeconds(1);
  private static final Duration SAME_DEADLINE = Duration.ofSeconds(1);

  private final WaitOptions options;
  private final ServerOptions servers;
  private final BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect;
  private final Holding holding;
  private final Waiting waiting;
  private final CompletableFuture<Integer> interrupted = new CompletableFuture<>();
  private volatile long grantedNanos;
  private volatile Optional<Duration> maxHold = Optional.empty();

  /**
   * Prepares.
   *
   * @param connect lets a client connect as the options say
   * @param words how the waiting is spoken of
   * @param err is told what is waited for
   */
  LockSession(
      WaitOptions options,
      ServerOptions servers,
      BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect,
      Waiting.Words words,
      PrintWriter err,
      Holding holding) {
    this.options = options;
    this.servers = servers;
    this.connect = connect;
    this.holding = holding;
    this.waiting = new Waiting(err, Terminal.isStandardError(), words);
  }

  /**
   * Returns the exit code to end with.
   *
   * @param wanted gives the request as the other options have it
   * @param warning how long before the deadline {@link Holding} is told of it
   * @throws CliException if an option is wrong, or the locks are not acquired
   */
  int run(Supplier<LockRequest> wanted, Duration warning) {
    Signals signals = new Signals(this::onSignal, "TERM", "INT", "HUP");
    try {
      LockRequest request =
          options.applyTo(wanted.get().listener(this)).reportPositionEvery(POSITION_INTERVAL);
      maxHold = request.maxHold();
      try (LockkeeperClient client = client(warning)) {
        return acquireAndHold(client, request);
      }
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, String.valueOf(e.getMessage()), e);
    } catch (CompletionException | LockkeeperException e) {
      throw ClientFailures.of(e, servers, options.conflictExitCode());
    } finally {
      waiting.close();
      signals.close();
    }
  }

  private int acquireAndHold(LockkeeperClient client, LockRequest request) {
    CompletableFuture<LockHandle> granted = client.acquire(request);
    CompletableFuture.anyOf(granted, interrupted).handle((value, error) -> value).join();
    waiting.close();
    if (interrupted.isDone()) {
      granted.cancel(false);
      return interrupted.join();
    }
    LockHandle handle = granted.join();
    try {
      return holding.whileHeld(handle);
    } finally {
      // A loss was told when it happened.
      boolean lost = !handle.isValid();
      boolean confirmed = release(handle);
      if (!lost) {
        holding.onReleased(handle, confirmed);
      }
    }
  }

  /** Returns whether a server has confirmed it. */
  private static boolean release(LockHandle handle) {
    return handle
        .releaseForResult()
        .thenApply(result -> result.outcome() != ReleaseResult.Outcome.LOST)
        .completeOnTimeout(false, RELEASE_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
        .join();
  }

  @Override
  public void onPlaces(List<QueuePlace> places) {
    if (!options.isQuiet()) {
      waiting.onQueued(places);
    }
  }

  @Override
  public void onGranted(LockHandle handle) {
    grantedNanos = System.nanoTime();
  }

  @Override
  public void onReleaseRequested(LockHandle handle, ReleaseRequest request) {
    holding.onReleaseRequested(request);
  }

  @Override
  public void onJeopardy(LockHandle handle, Duration validFor) {
    holding.onContact(false, validFor);
  }

  @Override
  public void onSafe(LockHandle handle, Duration validFor) {
    holding.onContact(true, validFor);
  }

  @Override
  public void onAboutToExpire(LockHandle handle, Duration remaining) {
    holding.onAboutToExpire(remaining, endsByMaxHold(remaining));
  }

  /** Returns whether the deadline in {@code remaining} is that of {@code --max-hold}. */
  private boolean endsByMaxHold(Duration remaining) {
    Duration held = Duration.ofNanos(System.nanoTime() - grantedNanos);
    return maxHold
        .map(limit -> limit.minus(held).minus(remaining).abs().compareTo(SAME_DEADLINE) < 0)
        .orElse(false);
  }

  private void onSignal(String name) {
    interrupted.complete(exitCodeOf(name));
    holding.onSignal(name);
  }

  /** Returns what a shell gives for a process that a signal has ended. */
  static int exitCodeOf(String signal) {
    return SIGNAL_BASE + Map.of("HUP", 1, "INT", 2, "TERM", 15).getOrDefault(signal, 0);
  }

  private LockkeeperClient client(Duration warning) {
    String list = servers.targets().stream().map(Object::toString).collect(Collectors.joining(","));
    LockkeeperClientBuilder builder =
        connect.apply(servers, options.applyTo(LockkeeperClient.builder(list)));
    return builder.requestTimeout(REACH_LIMIT).expiryWarning(warning).failFast().build();
  }
}
