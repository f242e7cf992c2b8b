package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.PreviousEnd;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What all handles have in common: they speak of their grants, and of their loss. */
public abstract class LosableHandle implements PromptHandle {

  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
  private final CompletableFuture<Void> lostAtOnce = new CompletableFuture<>();

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
}
