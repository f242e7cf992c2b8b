package io.lockkeeper.client.internal.kept;

import io.lockkeeper.client.LockGrant;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.PreviousEnd;
import io.lockkeeper.client.internal.acquisition.LosableHandle;
import io.lockkeeper.client.internal.acquisition.PromptHandle;
import io.lockkeeper.client.internal.context.ClientContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The handle of one that uses a kept lock: as good as what the client holds, and not a moment
 * longer than its own turn. For any thread.
 */
final class TurnHandle extends LosableHandle {

  private final Turn turn;
  private final KeptLocks locks;
  private volatile Optional<PromptHandle> held = Optional.empty();
  private volatile List<LockGrant> grants = List.of();
  private volatile LossReason lossReason = LossReason.UNKNOWN;

  TurnHandle(Turn turn, KeptLocks locks, ClientContext context) {
    super(turn, context);
    this.turn = turn;
    this.locks = locks;
  }

  /**
   * What it is the handle of.
   *
   * @param first whether nobody in this client has used it before: whoever has, has released
   * @param level how many of its owner use it, this one included
   */
  void begin(PromptHandle granted, boolean first, int level) {
    grants = first ? granted.grants() : later(granted.grants(), level);
    held = Optional.of(granted);
  }

  private static List<LockGrant> later(List<LockGrant> granted, int level) {
    return granted.stream()
        .map(
            grant -> new LockGrant(grant.name(), grant.fencingToken(), PreviousEnd.RELEASED, level))
        .toList();
  }

  private PromptHandle held() {
    return held.orElseThrow();
  }

  /** The locks are lost, and its turn with them. */
  void becomeLost(LossReason reason) {
    lossReason = reason;
    turn.state = Turn.State.LOST;
  }

  @Override
  protected Optional<LossReason> lostReason() {
    if (turn.state == Turn.State.LOST) {
      return Optional.of(lossReason);
    }
    if (turn.state != Turn.State.USING || held().isValid()) {
      return Optional.empty();
    }
    try {
      held().checkValid();
      return Optional.empty();
    } catch (LockLostException e) {
      return Optional.of(e.reason());
    }
  }

  @Override
  public List<LockGrant> grants() {
    return grants;
  }

  @Override
  public boolean isValid() {
    return turn.state == Turn.State.USING && held().isValid();
  }

  @Override
  public Duration remaining() {
    return isValid() ? held().remaining() : Duration.ZERO;
  }

  @Override
  public long validUntilNanos() {
    return held().validUntilNanos();
  }

  @Override
  protected boolean isReleased() {
    return turn.state == Turn.State.RELEASED;
  }

  @Override
  public CompletableFuture<Void> updateMetadata(Map<String, String> metadata) {
    return whileUsed(handle -> handle.updateMetadata(metadata));
  }

  @Override
  public CompletableFuture<Void> answerRelease(Duration needs) {
    return whileUsed(handle -> handle.answerRelease(needs));
  }

  private CompletableFuture<Void> whileUsed(Function<PromptHandle, CompletableFuture<Void>> call) {
    return isReleased() ? CompletableFuture.failedFuture(released()) : call.apply(held());
  }

  @Override
  protected void beginRelease() {
    locks.end(turn);
  }

  @Override
  public String toString() {
    return "LockHandle[" + turn.names() + ", token " + fencingToken() + ", kept]";
  }
}
