package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.ReleaseResult;
import java.util.concurrent.CompletableFuture;

/** A request for locks that was made. */
public interface Pending {

  /** Completes with the handle or with a {@link LockkeeperException}. */
  CompletableFuture<LockHandle> result();

  /** Completes, never exceptionally, when nothing more is to be done to end it. */
  CompletableFuture<ReleaseResult> released();

  /**
   * The caller no longer wants it, as {@link #withdraw} will say: a grant that is told first is not
   * told on. From any thread.
   */
  void becomeUnwanted();

  /** The caller no longer wants it: withdraws a request, releases a hold. On the loop. */
  void withdraw();

  /** Returns the names of the locks, as messages show them. */
  String names();
}
