package io.lockkeeper.bench.load;

/**
 * Locks whose holder is a thread.
 *
 * @param <L> the lock as its client has it
 */
public interface BlockingLocks<L> {

  /** Returns a lock, ready to be asked for. */
  L open(int client, String lock);

  /** Acquires it, once more if the thread holds it, waiting as long as it takes. */
  void acquire(L lock) throws Exception;

  /** Gives it back, one level, and returns when that is certain. */
  void release(L lock) throws Exception;
}
