package io.lockkeeper.bench.load;

/**
 * Locks whose holder is a thread.
 *
 * @param <L> the lock as its client has it
 */
public interface BlockingLocks<L> {

  /** Returns a lock, ready to be asked for. */
  L open(int client, String lock);

  /** Acquires it, waiting as long as it takes. */
  void acquire(L lock) throws Exception;

  /** Gives it back, and returns when that is certain. */
  void release(L lock) throws Exception;
}
