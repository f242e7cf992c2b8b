package io.lockkeeper.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;

/** One grant. Held, then either released or lost, whichever comes first. */
final class Hold implements LockHandle {

  private final List<LockGrant> grants;
  private final Deadline deadline;
  private final Keeper keeper;
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
  private volatile End end = End.NONE;
  private volatile boolean isGone;

  /** Sees to releases, and to what the holder has to say. */
  interface Keeper {
    /** Begins to release; called once at most. */
    void release();

    /** Completes, never exceptionally, when the hold is over for certain. */
    CompletableFuture<ReleaseResult> released();

    /** Waits for {@link #released}, in a bounded time. */
    void awaitReleased();

    /** Replaces the metadata. */
    CompletableFuture<Void> updateMetadata(Map<String, String> metadata);

    /** Answers a request for release. */
    CompletableFuture<Void> answerRelease(Duration needs);

    /** Returns a future that completes on the callback executor. */
    <T, R> CompletableFuture<R> relay(CompletableFuture<T> inner, Function<T, R> toValue);
  }

  /** How a hold ends. */
  private record End(boolean isHeld, boolean isLost, LossReason reason) {
    static final End NONE = new End(true, false, LossReason.UNKNOWN);
    static final End RELEASED = new End(false, false, LossReason.UNKNOWN);
  }

  Hold(List<LockGrant> grants, Deadline deadline, Keeper keeper) {
    this.grants = List.copyOf(grants);
    this.deadline = deadline;
    this.keeper = keeper;
  }

  private synchronized boolean endAs(End how) {
    if (!end.isHeld()) {
      return false;
    }
    end = how;
    return true;
  }

  /** Ends the hold as lost; says whether that is how it ended. */
  boolean lose(LossReason reason) {
    return endAs(new End(false, true, reason));
  }

  /** Completes {@link #lost}; for the callback executor. */
  void tellLost(LossReason reason) {
    lost.complete(reason);
  }

  /** Ends the hold as released, if it has not ended. */
  void beginRelease() {
    if (endAs(End.RELEASED)) {
      keeper.release();
    }
  }

  /** The server has confirmed the release: holds that are nested in this one are free of it. */
  void onConfirmed() {
    isGone = true;
  }

  /** Returns where it ends by its own limit, as long as the server may take it away for that. */
  OptionalLong limitNanos() {
    return isGone ? OptionalLong.empty() : deadline.ownNanos();
  }

  /** Returns whether it is neither released nor lost. */
  boolean isHeld() {
    return end.isHeld();
  }

  @Override
  public String name() {
    return grants.get(0).name();
  }

  @Override
  public long fencingToken() {
    return grants.get(0).fencingToken();
  }

  @Override
  public PreviousEnd previousEnd() {
    return grants.get(0).previousEnd();
  }

  @Override
  public List<LockGrant> grants() {
    return grants;
  }

  @Override
  public boolean isValid() {
    return end.isHeld() && deadline.remainingNanos() > 0;
  }

  @Override
  public Duration remaining() {
    return Duration.ofNanos(end.isHeld() ? Math.max(0, deadline.remainingNanos()) : 0);
  }

  @Override
  public long validUntilNanos() {
    return deadline.untilNanos();
  }

  @Override
  public void checkValid() {
    End now = end;
    if (now.isLost()) {
      throw new LockLostException(names(), now.reason());
    }
    if (!now.isHeld()) {
      throw new IllegalStateException("lock \"" + names() + "\" was released: acquire it again");
    }
    if (!isValid()) {
      throw new LockLostException(names(), deadline.passed());
    }
  }

  @Override
  public CompletionStage<LossReason> lost() {
    return lost.minimalCompletionStage();
  }

  @Override
  public CompletableFuture<Void> updateMetadata(Map<String, String> metadata) {
    Map<String, String> checked = Limits.metadata(metadata);
    return keeper.relay(keeper.updateMetadata(checked), Function.identity());
  }

  @Override
  public CompletableFuture<Void> answerRelease(Duration needs) {
    return keeper.relay(keeper.answerRelease(Limits.needs(needs)), Function.identity());
  }

  @Override
  public CompletableFuture<ReleaseResult> releaseForResult() {
    beginRelease();
    return keeper.relay(over(), Function.identity());
  }

  @Override
  public CompletableFuture<Void> releaseAsync() {
    beginRelease();
    return keeper.relay(over(), result -> null);
  }

  /** What is lost needs no server to say so. */
  private CompletableFuture<ReleaseResult> over() {
    return end.isLost() ? CompletableFuture.completedFuture(ReleaseResult.LOST) : keeper.released();
  }

  @Override
  public void close() {
    beginRelease();
    if (!end.isLost()) {
      keeper.awaitReleased();
    }
  }

  private String names() {
    return grants.stream().map(LockGrant::name).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return "LockHandle[" + names() + ", token " + fencingToken() + "]";
  }
}
