package io.lockkeeper.cli;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LossReason;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A command that runs while a lock is held. The lock going bad is told by any thread.
 *
 * <pre>
 *   running --about to expire (TERM)--> ending --lost, or kill-after is over--> killed
 *   running --lost (TERM)-------------> ending
 *   running --lost (KILL)-------------------------------------------------------> killed
 *   any --the command exits--> over
 * </pre>
 */
final class LockedRun {

  private final Child child;
  private final OnLost onLost;
  private final Duration killAfter;
  private final PrintWriter err;
  private boolean ending;

  LockedRun(Child child, OnLost onLost, Duration killAfter, PrintWriter err) {
    this.child = child;
    this.onLost = onLost;
    this.killAfter = killAfter;
    this.err = err;
  }

  /**
   * Waits for the command's end. Returns its exit code, or {@link ExitCodes#LOST} if the lock went
   * bad before that.
   */
  int await(LockHandle handle) {
    int exitCode = child.exit().join();
    synchronized (this) {
      return ending || (onLost != OnLost.IGNORE && !handle.isValid()) ? ExitCodes.LOST : exitCode;
    }
  }

  /** The lock will be lost after {@code remaining} unless the server is heard from. */
  synchronized void onAboutToExpire(Duration remaining) {
    say("no word from the server; the lock is good for " + Text.age(remaining) + " more");
    if (onLost == OnLost.TERM) {
      end();
    }
  }

  /** The lock is lost. */
  synchronized void onLost(LossReason reason) {
    say("the lock is lost (" + reason + ")");
    switch (onLost) {
      case TERM -> {
        if (ending && reason == LossReason.DEADLINE_PASSED) {
          say("killing the command");
          child.kill();
        } else {
          end();
        }
      }
      case KILL -> {
        ending = true;
        say("killing the command");
        child.kill();
      }
      case IGNORE -> say("the command goes on without it (--on-lost ignore)");
    }
  }

  private void end() {
    if (ending) {
      return;
    }
    ending = true;
    say("ending the command: TERM now, KILL in " + Text.age(killAfter) + " at the latest");
    child.terminate();
    CompletableFuture.delayedExecutor(killAfter.toMillis(), TimeUnit.MILLISECONDS)
        .execute(child::kill);
  }

  private void say(String what) {
    err.println("lockkeeper: " + what);
    err.flush();
  }
}
