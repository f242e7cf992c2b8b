package io.lockkeeper.client.internal.runtime;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.ReleaseResult;
import io.lockkeeper.client.internal.acquisition.Acquisition;
import io.lockkeeper.client.internal.acquisition.Pending;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.kept.KeptLocks;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.session.Session;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The calls that acquire locks: submits a request, and returns its result as a future, or waits for
 * it in the calling thread.
 *
 * @param context what the parts of the client share
 * @param session where requests are submitted
 * @param kept the locks that stay with the client while nobody else wants them
 */
public record AcquireCalls(ClientContext context, Session session, KeptLocks kept) {

  /** Acquires without waiting; when the future ends in another way, the request is withdrawn. */
  public CompletableFuture<LockHandle> async(LockRequest request) {
    Pending acquisition = submit(request, false);
    CompletableFuture<LockHandle> result = context.callbacks().relay(acquisition.result());
    CompletableFuture<LockHandle> unused =
        result.whenComplete(
            (handle, failure) -> {
              if (failure != null || !isGrant(acquisition, handle)) {
                withdraw(acquisition);
              }
            });
    return result;
  }

  private static final Duration WITHDRAWAL_LIMIT = Duration.ofSeconds(1);

  /** Waits; an interrupt withdraws the request, and waits a moment until that is certain. */
  public LockHandle await(LockRequest request) throws InterruptedException {
    Pending acquisition = submit(request, true);
    try {
      return result(acquisition);
    } catch (InterruptedException e) {
      withdraw(acquisition);
      throw withdrawn(acquisition, e);
    }
  }

  /** Returns what the caller is told: whether the request has certainly left the queue. */
  private static InterruptedException withdrawn(
      Pending acquisition, InterruptedException interrupt) {
    String known = "it has left the queue";
    try {
      ReleaseResult result =
          acquisition.released().get(WITHDRAWAL_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      if (result.outcome() == ReleaseResult.Outcome.LOST) {
        known = "its lease is over, and its place in the queue goes with it";
      }
    } catch (InterruptedException again) {
      Thread.currentThread().interrupt();
      known = "it is leaving the queue";
    } catch (TimeoutException e) {
      known = "no server has confirmed so far that it has left the queue";
    } catch (ExecutionException e) {
      throw new IllegalStateException("a release never fails", e);
    }
    InterruptedException told =
        new InterruptedException(
            LockNames.quoted(acquisition.names()) + ": interrupted while waiting; " + known);
    told.initCause(interrupt);
    return told;
  }

  /** Waits; an interrupt does not end the wait and is kept. */
  public LockHandle awaitUninterruptibly(LockRequest request) {
    Pending acquisition = submit(request, true);
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

  private Pending submit(LockRequest request, boolean callerWaits) {
    if (request.keepUnused().isPresent()) {
      return kept.submit(request, callerWaits);
    }
    Acquisition acquisition = session.prepare(request);
    session.request(
        acquisition, () -> request.owner().isEmpty() ? Optional.empty() : kept.refusal(request));
    return acquisition;
  }

  private static boolean isGrant(Pending acquisition, LockHandle handle) {
    CompletableFuture<LockHandle> result = acquisition.result();
    return result.isDone() && !result.isCompletedExceptionally() && result.join() == handle;
  }

  private void withdraw(Pending acquisition) {
    acquisition.becomeUnwanted();
    context.loop().execute(acquisition::withdraw);
  }

  private LockHandle result(Pending acquisition) throws InterruptedException {
    if (context.loop().isCurrentThread()) {
      withdraw(acquisition);
      throw new IllegalStateException(
          LockNames.quoted(acquisition.names())
              + ": this call waits and must not be made in a callback on the client's own thread:"
              + " use acquire, or a callback executor with a thread");
    }
    try {
      return acquisition.result().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LockkeeperException failure) {
        // Nobody else has it, and whoever reads its trace looks for the caller, not for the loop.
        failure.fillInStackTrace();
        throw failure;
      }
      throw new IllegalStateException("a request fails with LockkeeperException only", e);
    }
  }
}
