package io.lockkeeper.client;

/**
 * Work that needs a lock and has a result: see {@link LockkeeperClient#withLock}.
 *
 * @param <T> what it returns
 * @param <X> what it throws besides unchecked exceptions
 */
@FunctionalInterface
public interface LockedTask<T, X extends Exception> {

  /**
   * Does the work, in the thread that asked for the lock.
   *
   * @param lock the held lock: its token is for whatever the work changes
   */
  T run(LockHandle lock) throws X;
}
