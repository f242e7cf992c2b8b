package io.lockkeeper.client;

/**
 * Work that needs a lock and has no result: see {@link LockkeeperClient#runWithLock}.
 *
 * @param <X> what it throws besides unchecked exceptions
 */
@FunctionalInterface
public interface LockedAction<X extends Exception> {

  /**
   * Does the work, in the thread that asked for the lock.
   *
   * @param lock the held lock: its token is for whatever the work changes
   */
  void run(LockHandle lock) throws X;
}
