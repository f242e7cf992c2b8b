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
    T result;
    try {
      result = interruptible(lock, task);
    } catch (Exception e) {
      closeAfter(lock, e);
      throw e;
    } catch (Error e) {
      try (lock) {
        throw e;
      }
    }
    lock.close();
    return result;
  }

  private static <T, X extends Exception> T interruptible(LockHandle lock, LockedTask<T, X> task)
      throws X {
    LossInterrupt interrupt = LossInterrupt.ofCurrentThread(lock);
    try {
      return task.run(lock);
    } finally {
      interrupt.end();
    }
  }

  private static void closeAfter(LockHandle lock, Exception failure) {
    try {
      lock.close();
    } catch (LockLostException lost) {
      lost.addSuppressed(failure); // Most often its consequence: what failed was interrupted.
      throw lost;
    }
  }
}
