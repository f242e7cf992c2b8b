package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockHandle;

/** A handle that can tell of its loss before any callback, which another callback may delay. */
public interface PromptHandle extends LockHandle {

  /**
   * Runs {@code action} when the lock is lost, on the client's loop: it must not block. At once, if
   * it is lost already.
   */
  void onceLost(Runnable action);
}
