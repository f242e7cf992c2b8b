package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.PreviousEnd;
import io.lockkeeper.client.ReleaseResult;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.protocol.LockNames;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The base class of all handles: the values of the grant, the loss, and the release. */
public abstract class LosableHandle implements PromptHandle {

  private static final Logger LOG = LoggerFactory.getLogger(LosableHandle.class);

  private final Pending request;
  private final ClientContext context;
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
  private final CompletableFuture<Void> lostAtOnce = new CompletableFuture<>();

  /** Makes the handle of what {@code request} was granted. */
  protected LosableHandle(Pending request, ClientContext context) {
    this.request = request;
    this.context = context;
  }

  /** Ends the hold as released, if it has not ended. */
  protected abstract void beginRelease();

  /** Returns why it is lost, for instance by a deadline that has passed; empty: it is not. */
  protected abstract Optional<LossReason> lostReason();

  /** Returns whether it ended as released. */
  protected abstract boolean isReleased();

  @Override
  public final String name() {
    return grants().get(0).name();
  }

  @Override
  public final long fencingToken() {
    return grants().get(0).fencingToken();
  }

  @Override
  public final PreviousEnd previousEnd() {
    return grants().get(0).previousEnd();
  }

  @Override
  public final CompletionStage<LossReason> lost() {
    return lost.minimalCompletionStage();
  }

  @Override
  public final void onceLost(Runnable action) {
    CompletableFuture<Void> unused = lostAtOnce.thenRun(action);
  }

  /** Runs what must not wait for callbacks; for the loop. */
  public final void completeLostAtOnce() {
    lostAtOnce.complete(null);
  }

  /** Completes {@link #lost}; for the callback executor. */
  public final void completeLost(LossReason reason) {
    lost.complete(reason);
  }

  @Override
  public final void checkValid() {
    throwIfLost();
    if (isReleased()) {
      throw released();
    }
  }

  private void throwIfLost() {
    Optional<LossReason> why = lostReason();
    if (why.isPresent()) {
      throw new LockLostException(request.names(), why.get());
    }
  }

  /** Returns what a use of the handle fails with once it is released. */
  protected final IllegalStateException released() {
    return new IllegalStateException(
        LockNames.quoted(request.names()) + " was released: acquire it again");
  }

  @Override
  public final CompletableFuture<ReleaseResult> releaseForResult() {
    return release(Function.identity());
  }

  @Override
  public final CompletableFuture<Void> releaseAsync() {
    return release(result -> null);
  }

  private <T> CompletableFuture<T> release(Function<ReleaseResult, T> toValue) {
    beginRelease();
    CompletableFuture<ReleaseResult> released =
        lostReason().isPresent() // No server needs to confirm a loss.
            ? CompletableFuture.completedFuture(Acquisition.LOST)
            : request.released();
    return context.callbacks().relay(released, toValue);
  }

  @Override
  public final void close() {
    beginRelease();
    throwIfLost();
    awaitRelease();
  }

  /** Waits for the client's request timeout at most. An interrupt cuts it short and is kept. */
  private void awaitRelease() {
    if (request.released().isDone() || context.loop().isCurrentThread()) {
      return; // A callback on the loop itself cannot wait for what the loop does next.
    }
    Duration limit = context.settings().requestTimeout();
    try {
      request.released().get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      LOG.atWarn()
          .addKeyValue("lock", request.names())
          .log("The release is not certain after {}; it goes on in the background", limit);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a release never fails", e);
    }
  }
}
