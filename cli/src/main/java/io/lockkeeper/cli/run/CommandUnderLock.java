package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.ReleaseRequest;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Runs a command while locks are held. */
final class CommandUnderLock implements Holding {

  private final List<String> command;
  private final EndOptions options;
  private final Supplier<Watchdog> watchdogs;
  private final PrintWriter err;
  private Optional<String> signal = Optional.empty();
  private Optional<Child> child = Optional.empty();
  private volatile Optional<LockedRun> running = Optional.empty();

  /**
   * Prepares.
   *
   * @param watchdogs starts a watchdog for a command
   */
  CommandUnderLock(
      List<String> command, EndOptions options, Supplier<Watchdog> watchdogs, PrintWriter err) {
    this.command = command;
    this.options = options;
    this.watchdogs = watchdogs;
    this.err = err;
  }

  @Override
  public int whileHeld(LockHandle handle) {
    if (options.onLost == OnLost.IGNORE) {
      return run(handle, unwatched -> {});
    }
    try (Watchdog watchdog = watchdogs.get()) {
      return run(handle, started -> watchdog.watch(started, shorter(options.killAfter, handle)));
    }
  }

  private int run(LockHandle handle, Consumer<Child> guard) {
    Child started;
    synchronized (this) {
      // It takes a moment to get here.
      if (signal.isPresent()) {
        return LockSession.exitCodeOf(signal.get());
      }
      if (!handle.isValid()) {
        say("the lock is lost; the command is not started");
        return ExitCodes.LOST;
      }
      started = Child.start(command, environment(handle));
      child = Optional.of(started);
    }
    try {
      guard.accept(started);
      return await(started, handle);
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
        "LOCKKEEPER_LOCK_TOKENS",
            handle.grants().stream()
                .map(grant -> grant.fencingToken() + " " + grant.name())
                .collect(Collectors.joining("\n")));
  }

  private int await(Child started, LockHandle handle) {
    LockedRun run = new LockedRun(started, options.onLost, options.killAfter, this::say);
    running = Optional.of(run);
    CompletionStage<Void> unused = handle.lost().thenAccept(run::onLost);
    return run.await(handle);
  }

  /** When the watchdog begins, up to a quarter of the lease is gone, and it has to end in time. */
  private static Duration shorter(Duration killAfter, LockHandle handle) {
    Duration most = handle.remaining().dividedBy(2);
    return killAfter.compareTo(most) < 0 ? killAfter : most;
  }

  @Override
  public void onSignal(String name) {
    Optional<Child> told;
    synchronized (this) {
      signal = Optional.of(name);
      told = child;
    }
    told.ifPresent(started -> started.passOn(name));
  }

  @Override
  public void onReleased(LockHandle handle, boolean confirmed) {
    if (!confirmed) {
      say("no server has confirmed the release; the lock is free when its lease is over");
    }
  }

  @Override
  public void onReleaseRequested(ReleaseRequest request) {
    say(inWords(request));
  }

  private void say(String what) {
    err.println("lockkeeper: " + what);
    err.flush();
  }

  /** Says who asks for the lock, why and by when. */
  static String inWords(ReleaseRequest request) {
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
  public void onContact(boolean withZooKeeper, Duration validFor) {
    running.ifPresent(run -> run.onContact(withZooKeeper, validFor));
  }

  @Override
  public void onAboutToExpire(Duration remaining, boolean byMaxHold) {
    running.ifPresent(
        run -> {
          if (byMaxHold) {
            run.onHeldForLong(remaining);
          } else {
            run.onAboutToExpire(remaining);
          }
        });
  }
}
