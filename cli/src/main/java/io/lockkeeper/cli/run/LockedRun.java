package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A command that runs while a lock is held. The lock going bad is told by any thread.
 *
 * <pre>
 *   running --about to expire, or held for long (TERM)--> ending --lost, or kill-after is over--> killed
 *   running --lost (TERM)-------------> ending
 *   running --lost at its deadline or by --max-hold, or with --on-lost kill (KILL)--> killed
 *   running --the command exits--> over
 *   ending, killed --the command and all that was told to end with it exit--> over
 * </pre>
 */
final class LockedRun {

  private static final long CHECK_MILLIS = 20;
  private static final long KILLED_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Child child;
  private final OnLost onLost;
  private final Duration killAfter;
  private final Consumer<String> say;
  private boolean ending;
  private boolean withoutContact;
  private boolean killed;

  LockedRun(Child child, OnLost onLost, Duration killAfter, Consumer<String> say) {
    this.child = child;
    this.onLost = onLost;
    this.killAfter = killAfter;
    this.say = say;
  }

  /**
   * Waits for the command's end and, if it was told to end, or a signal was passed on to it, for
   * that of all that it has started. Returns its exit code, or {@link ExitCodes#LOST} if the lock
   * went bad before that.
   */
  int await(LockHandle handle) {
    int exitCode = child.exit().join();
    synchronized (this) {
      boolean signalled = !ending && child.isAnyLeft();
      if (signalled) {
        // That has ended the command, but not what it had started.
        child.terminateTheRest();
        killLater();
      }
      if (ending || signalled) {
        endTheRest();
      }
      return ending || (onLost != OnLost.IGNORE && !handle.isValid()) ? ExitCodes.LOST : exitCode;
    }
  }

  /** The servers have lost contact with ZooKeeper, or have it again. */
  synchronized void onContact(boolean withZooKeeper, Duration validFor) {
    withoutContact = !withZooKeeper;
    say.accept(
        withZooKeeper
            ? "the server has contact with ZooKeeper again, the lock is safe"
            : "the server has no contact with ZooKeeper; the lock is good for "
                + Text.age(validFor));
  }

  /** The lock will be lost after {@code remaining} unless it can be renewed before. */
  synchronized void onAboutToExpire(Duration remaining) {
    String why =
        withoutContact
            ? "the server still has no contact with ZooKeeper"
            : "no word from the server";
    say.accept(why + "; the lock is good for " + Text.age(remaining) + " more");
    if (onLost == OnLost.TERM) {
      end();
    }
  }

  /** The lock will be lost after {@code remaining} whatever the server says. */
  synchronized void onHeldForLong(Duration remaining) {
    say.accept("the lock may be held for " + Text.age(remaining) + " more (--max-hold)");
    if (onLost == OnLost.TERM) {
      end();
    }
  }

  /** The lock is lost. */
  synchronized void onLost(LossReason reason) {
    say.accept("the lock is lost (" + reason + ")");
    switch (onLost) {
      case TERM -> {
        if (reason == LossReason.DEADLINE_PASSED || reason == LossReason.MAX_HOLD) {
          // Perhaps unannounced: after a pause of ours there was no time before it for TERM.
          ending = true;
          say.accept("killing the command");
          kill();
        } else {
          end();
        }
      }
      case KILL -> {
        ending = true;
        say.accept("killing the command");
        kill();
      }
      case IGNORE -> say.accept("the command goes on without it (--on-lost ignore)");
    }
  }

  private void end() {
    if (ending) {
      return;
    }
    ending = true;
    say.accept("ending the command: TERM now, KILL in " + Text.age(killAfter) + " at the latest");
    child.terminate();
    killLater();
  }

  private void killLater() {
    CompletableFuture.delayedExecutor(killAfter.toMillis(), TimeUnit.MILLISECONDS)
        .execute(this::kill);
  }

  private synchronized void kill() {
    child.kill();
    killed = true;
    notifyAll();
  }

  /**
   * Waits for what the command has left behind, which must not outlive the lock any more than the
   * command itself. KILL comes when it is due, by another thread: the wait lets go of the monitor.
   */
  private synchronized void endTheRest() {
    try {
      while (!killed && child.isAnyLeft()) {
        wait(CHECK_MILLIS);
      }
      kill();
      long killedNanos = System.nanoTime();
      while (child.isAnyLeft() && System.nanoTime() - killedNanos < KILLED_WITHIN_NANOS) {
        wait(CHECK_MILLIS);
      }
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
  }
}
