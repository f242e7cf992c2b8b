package io.lockkeeper.client;

import io.grpc.Status;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Refused;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * One request's life. On the client's loop only, but for what is final.
 *
 * <pre>
 *   PENDING --sent--> ASKED --granted--> HELD --release--> LEAVING --released--> ENDED
 *      ^                | \                \                  ^
 *      +--unavailable---+  +--given up------+--granted anew---+
 *   PENDING, ASKED --refused, not acquired, lease over, time out--> ENDED;  HELD --lost--> ENDED
 * </pre>
 *
 * <p>Whatever its state, it is told to the server of each new stream, which may be another than
 * before and know less: a request again, a hold with its tokens, a release until it is answered.
 */
final class Acquisition {

  private enum State {
    /** Not sent under the present lease, or refused for the moment: no server knows of it. */
    PENDING,
    /** Sent, and sent again after a resume until granted. */
    ASKED,
    HELD,
    /** Released or given up; the release is sent until it is certain. */
    LEAVING,
    ENDED
  }

  private final String requestId;
  private final LockRequest request;
  private final Surroundings around;
  private final Link link;
  private final CompletableFuture<LockHandle> result = new CompletableFuture<>();
  private final CompletableFuture<ReleaseResult> left = new CompletableFuture<>();
  private final Tenure tenure;
  private final Wire wire;
  private final Told told = new Told();
  private final Patience patience;
  private State state = State.PENDING;

  Acquisition(String requestId, LockRequest request, Surroundings around, Link link) {
    this.requestId = requestId;
    this.request = request;
    this.around = around;
    this.link = link;
    this.tenure = new Tenure(this, around, link);
    this.wire = new Wire(this, around, link);
    this.patience = new Patience(around, request.waitLimit());
  }

  String requestId() {
    return requestId;
  }

  LockRequest request() {
    return request;
  }

  /** Completes on the loop with the handle or with a {@link LockkeeperException}. */
  CompletableFuture<LockHandle> result() {
    return result;
  }

  /** Completes on the loop when the server holds nothing of this for certain. */
  CompletableFuture<ReleaseResult> left() {
    return left;
  }

  /** Begins: sends the request if that can be done now. */
  void start() {
    patience.start(this::onLimit);
    send();
  }

  /** Returns when it is to be told to the server of a new stream. */
  Turn turn() {
    return switch (state) {
      case HELD -> Turn.HOLD;
      case LEAVING, ENDED -> Turn.RELEASE;
      case PENDING, ASKED -> Turn.REQUEST;
    };
  }

  /**
   * A stream is open: sends what the server may not know.
   *
   * @param sinceNanos when the stream before it broke
   */
  void onOpened(long sinceNanos) {
    told.onOpened();
    if (state != State.PENDING) { // No server knows of what was never sent, or was refused.
      wire.repeat();
    }
    tenure.onOpened(sinceNanos);
    send();
  }

  private void send() {
    patience.stopRetry();
    switch (state) {
      case PENDING, ASKED -> {
        if (wire.ask()) {
          state = State.ASKED;
        }
      }
      case HELD -> wire.hold(tenure);
      case LEAVING -> wire.release(tenure);
      case ENDED -> {}
    }
  }

  /** The server tells what happened; what was told before is ignored. */
  void onEvent(AcquireResponse event) {
    if (!told.isNext(event) || state == State.ENDED) {
      return;
    }
    patience.onHeard();
    switch (event.getEventCase()) {
      case QUEUED -> onQueued(event.getQueued().getPositionsList());
      case POSITION -> onQueued(event.getPosition().getPositionsList());
      case GRANTED -> onGranted(event.getGranted());
      case RELEASE_REQUESTED, JEOPARDY, SAFE -> tenure.onNews(event);
      case LOST -> onLost(Protos.toLossReason(event.getLost().getReason()));
      case NOT_ACQUIRED -> onNotAcquired(event.getNotAcquired());
      case RELEASED -> {
        if (state != State.LEAVING) { // Leaving, what the release did is said by its answer.
          onReleased(ReleaseResult.ALREADY_RELEASED);
        }
      }
      case EVENT_NOT_SET -> {} // From a newer server; this client has no use for it.
    }
  }

  /** One that is held is not taken away by this: the server may not know of the grant yet. */
  private void onQueued(List<QueuePosition> positions) {
    if (state == State.ASKED && !positions.isEmpty() && told.areNew(positions)) {
      around.callbacks().runIfRoom(() -> News.places(request.listener(), positions));
    }
  }

  private void onGranted(Granted granted) {
    if (granted.getGrantsCount() == 0) {
      return;
    }
    switch (state) {
      case PENDING, ASKED -> { // Pending: asked before.
        state = State.HELD;
        patience.stop();
        result.complete(tenure.begin(granted));
      }
      case HELD -> {
        if (tenure.isOf(granted)) {
          patience.stopRetry();
          tenure.onConfirmed();
        } else {
          loseAndLeave(LossReason.REMOVED); // Others may have held it in between.
        }
      }
      // Given up: the release is on its way, and frees this grant as well.
      case LEAVING, ENDED -> {}
    }
  }

  /** The locks are not held any more, but the server may have something under this id. */
  private void loseAndLeave(LossReason reason) {
    tenure.onLost(reason);
    wire.repeat();
    leave();
  }

  private void onNotAcquired(NotAcquired event) {
    if (state == State.HELD) {
      onLost(Protos.toLossReason(event.getReason()));
    } else {
      fail(Protos.toException(request.names(), event));
    }
  }

  private void onLost(LossReason reason) {
    tenure.onLost(reason);
    end(() -> new LeaseLostException(request.names(), reason), ReleaseResult.LOST);
  }

  /** The server says what the release did. */
  void onReleased(ReleaseResult what) {
    if (state == State.HELD) {
      onLost(LossReason.FORCED); // Released, but not by us.
    } else {
      end(() -> NotAcquiredException.withdrawn(request, ""), what);
    }
  }

  /** Returns what is held, if anything is. */
  Tenure tenure() {
    return tenure;
  }

  /** The server refused the request, or its release. */
  void onRefused(Refused refused) {
    Status.Code code = Status.fromCodeValue(refused.getCode()).getCode();
    if (state == State.LEAVING) {
      if (code == Status.Code.NOT_FOUND || code == Status.Code.FAILED_PRECONDITION) {
        // The server holds nothing under this id.
        onReleased(ReleaseResult.ALREADY_RELEASED);
      } else {
        patience.retryLater(this::send); // Whatever the reason, the release was not done.
      }
    } else if (state == State.HELD && tenure.isConfirmed()) {
      tenure.calls().onRefused(code, refused);
    } else if (Protos.isPassing(code)
        || (wire.isRepeating() && code == Status.Code.RESOURCE_EXHAUSTED)) {
      if (state == State.ASKED && !wire.isRepeating()) {
        state = State.PENDING; // A refused request has changed nothing: it may wait for later.
      }
      patience.retryLater(this::send);
    } else if (state == State.HELD) {
      loseAndLeave(LossReason.REMOVED); // This server will never confirm it.
    } else {
      failForGood(Protos.toException(request.names(), code, refused));
    }
  }

  /** Another server may know what this one has refused. */
  private void failForGood(LockkeeperException why) {
    if (wire.isRepeating()) {
      result.completeExceptionally(why);
      leave();
    } else {
      fail(why);
    }
  }

  /** The lease is over, and with it all that was sent under it. */
  void onLeaseOver(LossReason reason) {
    if (state != State.PENDING) {
      onLost(reason);
    }
  }

  /** Ends a request that has not been granted; nothing is to be said to the server. */
  void fail(LockkeeperException why) {
    if (state != State.HELD) {
      end(() -> why, ReleaseResult.LOST);
    }
  }

  /** The caller wants it no more: withdraws a request, releases a hold. */
  void giveUp(LockkeeperException why) {
    switch (state) {
      case PENDING -> end(() -> why, ReleaseResult.ALREADY_RELEASED);
      case ASKED -> {
        result.completeExceptionally(why);
        leave();
      }
      case HELD -> tenure.giveUp();
      case LEAVING, ENDED -> {} // It is on its way out.
    }
  }

  /** The holder releases. */
  void release() {
    if (state == State.HELD) {
      leave();
    }
  }

  /** Sees to it that the server holds nothing under this id; nobody waits for a grant. */
  void leave() {
    state = State.LEAVING;
    patience.stop();
    tenure.onReleasing();
    send();
  }

  private void onLimit() {
    boolean timedOut = patience.isWaitOver() && state == State.ASKED;
    giveUp(timedOut ? NotAcquiredException.timedOut(request) : link.unavailable());
  }

  private void end(Supplier<LockkeeperException> unlessGranted, ReleaseResult unlessReleased) {
    state = State.ENDED;
    patience.stop();
    tenure.onEnded(unlessReleased.outcome() != ReleaseResult.Outcome.LOST);
    link.ended(this);
    if (!result.isDone()) {
      result.completeExceptionally(unlessGranted.get());
    }
    left.complete(unlessReleased);
  }
}
