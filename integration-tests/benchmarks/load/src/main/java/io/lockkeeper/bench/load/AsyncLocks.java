package io.lockkeeper.bench.load;

import java.util.concurrent.CompletionStage;

/**
 * Locks that are asked for without a thread that waits.
 *
 * @param <H> what was granted
 */
public interface AsyncLocks<H> {

  /** Asks for a lock; completes when the client holds it, or holds it once more. */
  CompletionStage<H> acquire(int client, String lock);

  /** Gives back what was granted, one level; completes when that is certain. */
  CompletionStage<?> release(int client, H held);
}
