package io.lockkeeper.client;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/** One grant. Held, then either released or lost, whichever comes first. */
final class Hold implements LockHandle {

  private final String name;
  private final long fencingToken;
  private final PreviousEnd previousEnd;
  private final Validity validity;
  private final LongSupplier clock;
  private final Keeper keeper;
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
  private volatile End end = End.NONE;

  /** Sees to releases. */
  interface Keeper {
    /** Begins to release; called once at most. */
    void release();

    /** Completes, never exceptionally, when the hold is over for certain. */
    CompletableFuture<Void> released();

    /** Waits for {@link #released}, in a bounded time. */
    void awaitReleased();

    /** Returns a future that completes on the callback executor. */
    <T> CompletableFuture<T> relay(CompletableFuture<T> inner);
  }

  /** How a hold ends. */
  private record End(boolean isHeld, boolean isLost, LossReason reason) {
    static final End NONE = new End(true, false, LossReason.UNKNOWN);
    static final End RELEASED = new End(false, false, LossReason.UNKNOWN);
  }

  Hold(
      String name,
      long fencingToken,
      PreviousEnd previousEnd,
      Validity validity,
      LongSupplier clock,
      Keeper keeper) {
    this.name = name;
    this.fencingToken = fencingToken;
    this.previousEnd = previousEnd;
    this.validity = validity;
    this.clock = clock;
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

  @Override
  public String name() {
    return name;
  }

  @Override
  public long fencingToken() {
    return fencingToken;
  }

  @Override
  public PreviousEnd previousEnd() {
    return previousEnd;
  }

  @Override
  public boolean isValid() {
    return end.isHeld() && validity.remainingNanos(clock.getAsLong()) > 0;
  }

  @Override
  public Duration remaining() {
    long nanos = end.isHeld() ? validity.remainingNanos(clock.getAsLong()) : 0;
    return Duration.ofNanos(Math.max(0, nanos));
  }

  @Override
  public long validUntilNanos() {
    return validity.untilNanos();
  }

  @Override
  public void checkValid() {
    End now = end;
    if (now.isLost()) {
      throw new LockLostException(name, now.reason());
    }
    if (!now.isHeld()) {
      throw new IllegalStateException("lock \"" + name + "\" was released: acquire it again");
    }
    if (!isValid()) {
      throw new LockLostException(name, LossReason.DEADLINE_PASSED);
    }
  }

  @Override
  public CompletionStage<LossReason> lost() {
    return lost.minimalCompletionStage();
  }

  @Override
  public CompletableFuture<Void> releaseAsync() {
    beginRelease();
    return keeper.relay(keeper.released());
  }

  @Override
  public void close() {
    beginRelease();
    keeper.awaitReleased();
  }

  @Override
  public String toString() {
    return "LockHandle[" + name + ", token " + fencingToken + "]";
  }
}
