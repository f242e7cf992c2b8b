package io.lockkeeper.client.internal.acquisition;

import io.grpc.Status;
import io.lockkeeper.client.LeaseLostException;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import io.lockkeeper.client.ReleaseResult;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.client.internal.telemetry.Telemetry;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseRequested;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The life of one request for locks. On the client's loop only, except for what is final.
 *
 * <pre>
 *   PENDING --sent--> SENT --granted--> HELD --release--> RELEASING --released--> ENDED
 *      ^                | \               \                  ^
 *      +--unavailable---+  +--given up-----+--granted again--+
 *   PENDING, SENT --refused, not acquired, lease over, time out--> ENDED;  HELD --lost--> ENDED
 * </pre>
 *
 * <p>In every state, it is repeated to the server of each new stream, which may be another than
 * before and know less: a request is sent again, a hold with its tokens, a release until it is
 * answered.
 */
public final class Acquisition implements Pending {

  /** How long a request may be refused beyond its wait limit: one that does not wait, too. */
  private static final long REFUSAL_NANOS = TimeUnit.SECONDS.toNanos(5);

  static final ReleaseResult LOST = new ReleaseResult(ReleaseResult.Outcome.LOST, 0);
  private static final LockRequest UNWANTED = LockRequest.of("unwanted");
  private static final ReleaseResult ALREADY_RELEASED =
      new ReleaseResult(ReleaseResult.Outcome.ALREADY_RELEASED, 0);

  private final String requestId;
  private final LockRequest request;
  private final ClientContext context;
  private final SessionLink session;
  private final Telemetry.Request telemetry;
  private final CompletableFuture<LockHandle> result = new CompletableFuture<>();
  private final CompletableFuture<ReleaseResult> released = new CompletableFuture<>();
  private final HoldState hold;
  private final EventFilter filter = new EventFilter();
  private final long madeAtNanos;
  private final ResettableTimer limit;
  private final ResettableTimer retry;
  private State state = State.PENDING;
  private boolean heard;
  private boolean repeating;
  private volatile boolean unwanted;

  public Acquisition(
      String requestId, LockRequest request, ClientContext context, SessionLink session) {
    this(
        requestId,
        request,
        context,
        session,
        context.settings().telemetry().onRequested(request),
        Optional.empty());
  }

  /** Makes one whose locks {@code keeper} has used by several, each of whom has its telemetry. */
  public Acquisition(
      String requestId,
      LockRequest request,
      ClientContext context,
      SessionLink session,
      Keeper keeper) {
    this(
        requestId,
        request,
        context,
        session,
        Telemetry.NONE.onRequested(request),
        Optional.of(keeper));
  }

  private Acquisition(
      String requestId,
      LockRequest request,
      ClientContext context,
      SessionLink session,
      Telemetry.Request telemetry,
      Optional<Keeper> keeper) {
    this.requestId = requestId;
    this.request = telemetry.traced(request);
    this.context = context;
    this.session = session;
    this.telemetry = telemetry;
    this.hold = new HoldState(this, context, session, keeper);
    this.madeAtNanos = context.loop().nanos();
    this.limit = new ResettableTimer(context.loop());
    this.retry = new ResettableTimer(context.loop());
    CompletableFuture<LockHandle> unused =
        result.whenComplete(
            (handle, failure) -> {
              if (failure == null) {
                telemetry.onGranted(handle);
              } else {
                telemetry.onNotGranted(failure);
              }
            });
  }

  /** Makes one of which only the id is known: nobody waits for it, and it is to be released. */
  static Acquisition unwanted(String requestId, ClientContext context, SessionLink session) {
    return new Acquisition(
        requestId,
        UNWANTED,
        context,
        session,
        Telemetry.NONE.onRequested(UNWANTED),
        Optional.empty());
  }

  /** Returns who is told what becomes of it. */
  Telemetry.Request telemetry() {
    return telemetry;
  }

  String requestId() {
    return requestId;
  }

  LockRequest request() {
    return request;
  }

  /** Returns whether it holds for {@code owner}. */
  boolean isHeldBy(String owner) {
    return state == State.HELD && request.owner().equals(owner);
  }

  /** Completes on the loop. */
  @Override
  public CompletableFuture<LockHandle> result() {
    return result;
  }

  /**
   * Completes on the loop: a server holds nothing of it, or it is lost: its lease is over for this
   * client, and ends at the servers with whatever was sent under it.
   */
  @Override
  public CompletableFuture<ReleaseResult> released() {
    return released;
  }

  /** Returns whether nothing more will come of it. */
  public boolean isOver() {
    return state == State.ENDED;
  }

  /** Returns what is held, if anything is. */
  public HoldState hold() {
    return hold;
  }

  /** Begins: sends the request if that is possible now, and limits the wait for an answer. */
  public void start() {
    long answer = context.settings().requestTimeout().toNanos();
    long wait = request.waitLimit().map(Loop::toNanos).orElse(0L);
    limit.set(wait + answer, this::onLimit);
    send();
  }

  /** Returns when it is to be repeated to the server of a new stream. */
  RepeatOrder repeatOrder() {
    return switch (state) {
      case HELD -> RepeatOrder.HOLD;
      case RELEASING, ENDED -> RepeatOrder.RELEASE;
      case PENDING, SENT -> RepeatOrder.REQUEST;
    };
  }

  /**
   * A stream is open: sends what the server may not know.
   *
   * @param sinceNanos when the stream before it broke
   */
  void onOpened(long sinceNanos) {
    filter.onOpened();
    // No server knows of what was never sent, or was refused.
    repeating |= state != State.PENDING;
    hold.onOpened(sinceNanos);
    send();
  }

  private void send() {
    retry.cancel();
    switch (state) {
      case PENDING, SENT -> {
        long waited = context.loop().nanos() - madeAtNanos;
        if (session.send(
            SessionRequests.acquire(request, requestId, context.settings().holder(), waited))) {
          state = State.SENT;
        }
      }
      case HELD -> session.send(hold.repeated());
      // A server may have granted it again: then whatever it has is released.
      case RELEASING ->
          session.send(SessionRequests.release(requestId, repeating ? 0 : hold.fencingToken()));
      case ENDED -> {}
    }
  }

  private void retryLater(Refused refused) {
    retry.set(context.backoff().retryNanos(Protos.toRetryNanos(refused)), this::send);
  }

  private void stopTimers() {
    limit.cancel();
    retry.cancel();
  }

  /** The server tells what happened; what was told before is ignored. */
  public void onEvent(AcquireResponse event) {
    if (state == State.ENDED) {
      return;
    }
    if (!filter.isNext(event)) {
      if (state == State.HELD && event.hasGranted() && hold.isOf(event.getGranted())) {
        onConfirmed(); // The same server tells it once more, on another stream.
      }
      return; // What is told once more says nothing new: a jeopardy goes on.
    }
    onHeard();
    switch (event.getEventCase()) {
      case QUEUED -> onQueued(event.getQueued().getPositionsList());
      case POSITION -> onQueued(event.getPosition().getPositionsList());
      case GRANTED -> onGranted(event.getGranted());
      case RELEASE_REQUESTED -> onReleaseRequested(event.getReleaseRequested());
      case CONTENDED -> hold.onContended(event.getContended().getWaiters());
      case JEOPARDY -> hold.onJeopardy(event.getJeopardy());
      case SAFE -> hold.onSafe();
      case LOST -> onLost(Protos.toLossReason(event.getLost().getReason()));
      case NOT_ACQUIRED -> onNotAcquired(event.getNotAcquired());
      case RELEASED -> {
        if (state != State.RELEASING) { // Otherwise, the answer to the release says what it did.
          onReleased(ALREADY_RELEASED);
        }
      }
      case HEARTBEAT, EVENT_NOT_SET -> {} // Not on a session, or from a newer server.
    }
  }

  /** From the first event on, only a request with a wait limit has a limit. */
  private void onHeard() {
    if (!heard && request.waitLimit().isEmpty()) {
      limit.cancel();
    }
    heard = true;
  }

  private void onReleaseRequested(ReleaseRequested asked) {
    if (filter.isNewReleaseRequest(asked, context.loop().nanos())) {
      hold.onReleaseRequested(asked);
    }
  }

  /** What is held is not taken away by this: the server may not know of the grant so far. */
  private void onQueued(List<QueuePosition> positions) {
    if (state == State.SENT && !positions.isEmpty() && filter.areNew(positions)) {
      context
          .callbacks()
          .runIfRoom(() -> request.listener().onPlaces(Protos.toQueuePlaces(positions)));
    }
  }

  private void onGranted(Granted granted) {
    if (granted.getGrantsCount() == 0) {
      return;
    }
    switch (state) {
      case PENDING, SENT -> {
        state = State.SENT; // Pending: refused for the moment, but granted before.
        if (unwanted) {
          withdraw();
        } else {
          state = State.HELD;
          stopTimers();
          result.complete(hold.begin(granted));
          hold.onWaiters(granted);
        }
      }
      case HELD -> {
        if (hold.isOf(granted)) {
          onConfirmed();
          hold.onSafe(); // Of a server that vouches for it anew.
          hold.onWaiters(granted);
        } else {
          loseAndRelease(LossReason.REMOVED); // Others may have held it in between.
        }
      }
      // Given up: the release is on its way, and frees this grant as well.
      case RELEASING, ENDED -> {}
    }
  }

  private void onConfirmed() {
    retry.cancel();
    hold.onConfirmed();
  }

  /** The locks are not held any more, but the server may have something under this id. */
  void loseAndRelease(LossReason reason) {
    if (state == State.HELD) {
      hold.onLost(reason);
      repeating = true;
      releaseAnything();
    }
  }

  /**
   * A deadline of the hold has passed. What has reached its longest hold is left to the server to
   * take away: so the next holder hears that it was not released, and a lock delay counts.
   */
  void expire(LossReason reason) {
    hold.onLost(reason);
    if (reason != LossReason.MAX_HOLD || request.maxHold().isEmpty()) {
      loseAndRelease(reason);
    }
  }

  private void onNotAcquired(NotAcquired event) {
    if (state == State.HELD) {
      onLost(Protos.toLossReason(event.getReason()));
    } else {
      LockkeeperException why = Protos.toException(names(), event);
      end(() -> why, why instanceof LeaseLostException ? LOST : ALREADY_RELEASED);
    }
  }

  private void onLost(LossReason reason) {
    hold.onLost(reason);
    end(() -> new LeaseLostException(names(), reason), LOST);
  }

  /** The server says what the release did. */
  void onReleased(ReleaseResult what) {
    if (state == State.HELD) {
      onLost(LossReason.FORCED); // Released, but not by us.
    } else {
      end(() -> notAcquired(NotAcquiredReason.WITHDRAWN, ""), what);
    }
  }

  /**
   * The server refused the request for the locks. Whether it may be asked again, it says by a
   * delay. Of a limit that is reached, a caller hears at once, unless the request has had a place;
   * and of any refusal, some seconds after the wait limit, which no server counts meanwhile.
   */
  public void onRefused(Refused refused) {
    if (state == State.RELEASING || (state == State.HELD && hold.isConfirmed())) {
      return; // The answer to the release is what counts; or a repetition was not needed.
    }
    boolean isLimit = refused.getCode() == Status.Code.RESOURCE_EXHAUSTED.value();
    boolean mayAskAgain = refused.hasRetryAfter() && (repeating || !isLimit);
    if (mayAskAgain && (state == State.HELD || !isPastItsWaitLimit())) {
      if (state == State.SENT && !repeating) {
        state = State.PENDING; // A refused request has changed nothing: it may wait for later.
      }
      retryLater(refused);
    } else if (state == State.HELD) {
      loseAndRelease(LossReason.REMOVED); // This server will never confirm it.
    } else {
      failForGood(Protos.toException(names(), refused));
    }
  }

  private boolean isPastItsWaitLimit() {
    long waitedNanos = context.loop().nanos() - madeAtNanos;
    return request
        .waitLimit()
        .filter(limit -> waitedNanos >= Loop.toNanos(limit) + REFUSAL_NANOS)
        .isPresent();
  }

  /** The server refused the release. */
  public void onReleaseRefused(Refused refused) {
    Status.Code code = Status.fromCodeValue(refused.getCode()).getCode();
    if (state != State.RELEASING) {
      return;
    }
    if (code == Status.Code.NOT_FOUND || code == Status.Code.FAILED_PRECONDITION) {
      onReleased(ALREADY_RELEASED); // The server holds nothing under this id.
    } else {
      retryLater(refused); // Whatever the reason, the release was not done.
    }
  }

  /** Another server may know what this one has refused. */
  private void failForGood(LockkeeperException why) {
    if (repeating) {
      result.completeExceptionally(why);
      releaseAnything();
    } else {
      fail(why);
    }
  }

  /** The lease is over, and with it all that was sent under it. */
  public void onLeaseOver(LossReason reason) {
    if (state != State.PENDING) {
      onLost(reason);
    }
  }

  /** The client is closed, and its lease with all that was sent under it. */
  public void onClosed(LockkeeperException why) {
    if (state == State.HELD) {
      onLost(LossReason.LEASE_CLOSED);
    } else {
      end(() -> why, state == State.PENDING ? ALREADY_RELEASED : LOST);
    }
  }

  /** Ends a request of which the server has nothing. */
  public void fail(LockkeeperException why) {
    if (state != State.HELD) {
      end(() -> why, ALREADY_RELEASED);
    }
  }

  @Override
  public void becomeUnwanted() {
    unwanted = true;
  }

  /** Returns whether the caller no longer wants it. From any thread. */
  boolean isUnwanted() {
    return unwanted;
  }

  @Override
  public void withdraw() {
    giveUp(notAcquired(NotAcquiredReason.WITHDRAWN, "the caller gave up"));
  }

  private void onLimit() {
    boolean timedOut = heard && request.waitLimit().isPresent() && state == State.SENT;
    giveUp(
        timedOut
            ? notAcquired(NotAcquiredReason.TIMED_OUT, "no server said so in time")
            : session.unavailable(names()));
  }

  private void giveUp(LockkeeperException why) {
    switch (state) {
      case PENDING -> end(() -> why, ALREADY_RELEASED);
      case SENT -> {
        result.completeExceptionally(why);
        releaseAnything();
      }
      case HELD -> hold.beginRelease();
      case RELEASING, ENDED -> {} // It is ending.
    }
  }

  /** The holder releases. */
  void release() {
    if (state == State.HELD) {
      releaseAnything();
    }
  }

  /** Makes sure that the server holds nothing under this id; nobody waits for a grant. */
  public void releaseAnything() {
    state = State.RELEASING;
    stopTimers();
    send();
    hold.onReleasing();
  }

  private void end(Supplier<LockkeeperException> unlessGranted, ReleaseResult unlessReleased) {
    state = State.ENDED;
    stopTimers();
    hold.onEnded(unlessReleased.outcome() != ReleaseResult.Outcome.LOST);
    session.ended(this);
    if (!result.isDone()) {
      result.completeExceptionally(unlessGranted.get());
    }
    released.complete(unlessReleased);
  }

  private NotAcquiredException notAcquired(NotAcquiredReason reason, String detail) {
    return new NotAcquiredException(names(), reason, detail, List.of());
  }

  @Override
  public String names() {
    return LockNames.join(request.locks());
  }
}
