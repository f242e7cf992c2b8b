package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockGrant;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.lease.Validity;
import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * The handle of one grant: held, then either released or lost, whichever comes first. For any
 * thread; what it has to say to the server is carried to the client's loop.
 *
 * <p>It is valid until the earliest of these deadlines: the lease's, which moves on; the end of
 * {@link LockRequest#maxHold}; that of the limited holds that it is a later level of; and while a
 * server has lost ZooKeeper, the one that its jeopardy named. Whoever looks first and finds that a
 * deadline has passed ends the hold: so it is never valid again, whatever comes later.
 */
final class GrantedHandle extends LosableHandle {

  private final Acquisition acquisition;
  private final ClientContext context;
  private final List<LockGrant> grants;
  private final Validity lease;
  private final OptionalLong limitNanos;
  private final List<GrantedHandle> outer;
  private volatile End end = End.NONE;
  private volatile boolean releaseConfirmed;
  private volatile OptionalLong jeopardyNanos = OptionalLong.empty();

  /** How a hold ends. */
  private record End(boolean isHeld, boolean isLost, LossReason reason) {
    static final End NONE = new End(true, false, LossReason.UNKNOWN);
    static final End RELEASED = new End(false, false, LossReason.UNKNOWN);
  }

  /**
   * Makes the handle of what {@code acquisition} was granted.
   *
   * @param lease until when the lease may be relied upon
   * @param limitNanos where {@link LockRequest#maxHold} ends, as a reading of the loop's clock
   * @param outer the limited holds that this one is a later level of
   */
  GrantedHandle(
      Acquisition acquisition,
      ClientContext context,
      List<LockGrant> grants,
      Validity lease,
      OptionalLong limitNanos,
      List<GrantedHandle> outer) {
    super(acquisition, context);
    this.acquisition = acquisition;
    this.context = context;
    this.grants = List.copyOf(grants);
    this.lease = lease;
    this.limitNanos = limitNanos;
    this.outer = outer;
  }

  private synchronized boolean endAs(End how) {
    if (!end.isHeld()) {
      return false;
    }
    end = how;
    return true;
  }

  /** Ends the hold as lost, if it has not ended; returns why it is lost, if it is. */
  Optional<LossReason> lose(LossReason reason) {
    boolean unused = endAs(new End(false, true, reason));
    return lostReason();
  }

  @Override
  protected Optional<LossReason> lostReason() {
    End now = look();
    return now.isLost() ? Optional.of(now.reason()) : Optional.empty();
  }

  /** Returns whether it ended as lost. */
  boolean isLost() {
    return end.isLost();
  }

  /** Returns how the hold has ended, if it has; a deadline that has passed is its end. */
  private End look() {
    if (end.isHeld()) {
      passedDeadline()
          .filter(passed -> endAs(new End(false, true, passed)))
          // Not in this thread: whoever only looks must not run the callbacks of a loss.
          .ifPresent(passed -> context.loop().schedule(0, () -> acquisition.expire(passed)));
    }
    return end;
  }

  @Override
  protected void beginRelease() {
    if (look().isHeld() && endAs(End.RELEASED)) {
      context.loop().execute(acquisition::release);
    }
  }

  @Override
  protected boolean isReleased() {
    return end.equals(End.RELEASED);
  }

  /** The server has confirmed the release: its limit no longer binds the levels nested in it. */
  void onReleaseConfirmed() {
    releaseConfirmed = true;
  }

  /** The server has lost ZooKeeper, and vouches for the hold until {@code untilNanos}. */
  void onJeopardy(long untilNanos) {
    jeopardyNanos = OptionalLong.of(untilNanos);
  }

  /** The jeopardy is over. */
  void onSafe() {
    jeopardyNanos = OptionalLong.empty();
  }

  /** Returns whether a server has lost ZooKeeper, as far as it has told. */
  boolean isInJeopardy() {
    return jeopardyNanos.isPresent();
  }

  /** Returns where it ends by its own limit, as long as the server may take it away for that. */
  OptionalLong limitNanos() {
    return releaseConfirmed ? OptionalLong.empty() : limitNanos;
  }

  @Override
  public List<LockGrant> grants() {
    return grants;
  }

  @Override
  public boolean isValid() {
    return look().isHeld();
  }

  @Override
  public Duration remaining() {
    long leftNanos = validUntilNanos() - context.loop().nanos();
    return Duration.ofNanos(look().isHeld() ? Math.max(0, leftNanos) : 0);
  }

  @Override
  public long validUntilNanos() {
    return earlierLimit(promisedNanos());
  }

  /** Returns until when the server vouches for the hold. */
  private long promisedNanos() {
    return earlier(lease.untilNanos(), jeopardyNanos);
  }

  private long earlierLimit(long nanos) {
    long until = earlier(nanos, limitNanos());
    for (GrantedHandle handle : outer) {
      until = earlier(until, handle.limitNanos());
    }
    return until;
  }

  private static long earlier(long nanos, OptionalLong limit) {
    return limit.isPresent() && limit.getAsLong() - nanos < 0 ? limit.getAsLong() : nanos;
  }

  @Override
  public CompletableFuture<Void> updateMetadata(Map<String, String> metadata) {
    return ask(SessionRequests.updateMetadata(acquisition.requestId(), Limits.metadata(metadata)));
  }

  @Override
  public CompletableFuture<Void> answerRelease(Duration needs) {
    return ask(SessionRequests.answerRelease(acquisition.requestId(), Limits.needs(needs)));
  }

  private CompletableFuture<Void> ask(SessionRequest request) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    if (!context.loop().executeIfRunning(() -> acquisition.hold().ask(request, answer))) {
      answer.completeExceptionally(
          new LockLostException(acquisition.names(), LossReason.LEASE_CLOSED));
    }
    return context.callbacks().relay(answer);
  }

  /** Returns which deadline has passed. */
  private Optional<LossReason> passedDeadline() {
    long now = context.loop().nanos();
    long promised = promisedNanos();
    if (promised - now <= 0) {
      return Optional.of(LossReason.DEADLINE_PASSED);
    }
    return earlierLimit(promised) - now <= 0 ? Optional.of(LossReason.MAX_HOLD) : Optional.empty();
  }

  @Override
  public String toString() {
    return "LockHandle[" + acquisition.names() + ", token " + fencingToken() + "]";
  }
}
