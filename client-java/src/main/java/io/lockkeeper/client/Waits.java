package io.lockkeeper.client;

import io.lockkeeper.client.internal.Loop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Submits requests, and waits in the calling thread for what they come to. */
record Waits(Loop loop, Session session) {

  /** Submits a request. */
  Acquisition submit(LockRequest request) {
    Acquisition acquisition = session.prepare(request);
    if (!loop.executeIfRunning(() -> session.submit(acquisition))) {
      throw new IllegalStateException("this client is closed: build another one");
    }
    return acquisition;
  }

  /** Waits; an interrupt withdraws the request. */
  LockHandle await(Acquisition acquisition) throws InterruptedException {
    try {
      return result(acquisition);
    } catch (InterruptedException e) {
      giveUp(acquisition);
      throw e;
    }
  }

  /** Waits; an interrupt does not end the wait and is kept. */
  LockHandle awaitUninterruptibly(Acquisition acquisition) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return result(acquisition);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns whether {@code handle} is what the request was granted. */
  boolean isGrant(Acquisition acquisition, LockHandle handle) {
    CompletableFuture<LockHandle> result = acquisition.result();
    return result.isDone() && !result.isCompletedExceptionally() && result.join() == handle;
  }

  /** Withdraws the request, or releases what it was granted. Returns at once. */
  void giveUp(Acquisition acquisition) {
    loop.execute(
        () ->
            acquisition.giveUp(
                NotAcquiredException.withdrawn(acquisition.request(), "the caller gave up")));
  }

  private LockHandle result(Acquisition acquisition) throws InterruptedException {
    if (loop.isCurrentThread()) {
      giveUp(acquisition);
      throw new IllegalStateException(
          "this call waits and must not be made in a callback on the client's own thread: use"
              + " acquire, or a callback executor with a thread");
    }
    try {
      return acquisition.result().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LockkeeperException failure) {
        failure.addSuppressed(new IllegalStateException("the caller waited here"));
        throw failure;
      }
      throw new IllegalStateException("a request fails with LockkeeperException only", e);
    }
  }
}
