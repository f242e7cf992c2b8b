package io.lockkeeper.client.internal.views;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockedTask;

/** Runs work that needs a lock. */
public final class LockedTasks {

  private LockedTasks() {}

  /**
   * Runs {@code task} in the calling thread, interrupts it when the lock is lost, and releases the
   * lock.
   *
   * @throws LockLostException if the lock was lost by the end of the task; an exception of the task
   *     is suppressed by it, and an error suppresses it
   */
  public static <T, X extends Exception> T run(LockHandle lock, LockedTask<T, X> task) throws X {
    LossInterrupt interrupt = LossInterrupt.ofCurrentThread(lock);
    T result;
    try {
      result = task.run(lock);
    } catch (Throwable e) { // Other languages throw checked exceptions that they do not declare.
      boolean interrupted = interrupt.end();
      closeAfter(lock, e, interrupted);
      throw e;
    }
    boolean unused = interrupt.end();
    lock.close();
    return result;
  }

  /** Runs {@code action} undisturbed by losses; they interrupt the calling thread after it. */
  public static void undisturbed(Runnable action) {
    LossInterrupt.holdBack(action);
  }

  private static void closeAfter(LockHandle lock, Throwable failure, boolean interrupted) {
    try {
      lock.close();
    } catch (LockLostException lost) {
      if (failure instanceof Error) {
        failure.addSuppressed(lost);
        return;
      }
      if (failure instanceof InterruptedException && !interrupted) {
        Thread.currentThread().interrupt(); // The caller's: it must not be lost with the lock.
      }
      lost.addSuppressed(failure); // Most often its consequence: what failed was interrupted.
      throw lost;
    }
  }
}
