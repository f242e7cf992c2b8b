package io.lockkeeper.cli.run;

import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.ReleaseRequest;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** Runs a command while locks are held. */
final class CommandUnderLock implements Holding {

  private final List<String> command;
  private final EndOptions options;
  private final BiFunction<Child, Duration, Watchdog> watchdogs;
  private final PrintWriter err;
  private volatile boolean interrupted;
  private volatile Optional<Child> child = Optional.empty();
  private volatile Optional<LockedRun> running = Optional.empty();

  /**
   * Prepares.
   *
   * @param watchdogs sets a watchdog over a command, given how long after TERM to send KILL
   */
  CommandUnderLock(
      List<String> command,
      EndOptions options,
      BiFunction<Child, Duration, Watchdog> watchdogs,
      PrintWriter err) {
    this.command = command;
    this.options = options;
    this.watchdogs = watchdogs;
    this.err = err;
  }

  @Override
  public int whileHeld(LockHandle handle) {
    Child started = Child.start(command, environment(handle));
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
        "LOCKKEEPER_LOCK_TOKENS",
            handle.grants().stream()
                .map(grant -> grant.fencingToken() + " " + grant.name())
                .collect(Collectors.joining("\n")));
  }

  private int guard(Child started, LockHandle handle) {
    LockedRun run = new LockedRun(started, options.onLost, options.killAfter, err);
    running = Optional.of(run);
    if (interrupted) {
      started.terminate();
    }
    CompletionStage<Void> unused = handle.lost().thenAccept(run::onLost);
    if (options.onLost == OnLost.IGNORE) {
      return run.await(handle);
    }
    Watchdog watchdog = watchdogs.apply(started, shorter(options.killAfter, handle));
    try {
      return run.await(handle);
    } finally {
      watchdog.close();
    }
  }

  /** When the watchdog begins, up to a quarter of the lease is gone, and it has to end in time. */
  private static Duration shorter(Duration killAfter, LockHandle handle) {
    Duration most = handle.remaining().dividedBy(2);
    return killAfter.compareTo(most) < 0 ? killAfter : most;
  }

  @Override
  public void onSignal(String name) {
    interrupted = true;
    child.ifPresent(c -> c.passOn(name));
  }

  @Override
  public void onReleased(LockHandle handle, boolean confirmed) {
    if (!confirmed) {
      err.println(
          "lockkeeper: no server has confirmed the release; the lock is free when its lease is over");
      err.flush();
    }
  }

  @Override
  public void onReleaseRequested(ReleaseRequest request) {
    err.println("lockkeeper: " + inWords(request));
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
