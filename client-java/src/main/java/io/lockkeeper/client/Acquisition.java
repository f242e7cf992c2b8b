package io.lockkeeper.client;

import io.grpc.Status;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.SessionRequest;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * One request's life. On the client's loop only, but for what is final.
 *
 * <pre>
 *   PENDING --sent--> ASKED --granted--> HELD --release--> LEAVING --released--> ENDED
 *      ^                | \                \                  ^
 *      +--unavailable---+  +--given up------|-----------------+
 *   PENDING, ASKED --refused, not acquired, lease over, time out--> ENDED;  HELD --lost--> ENDED
 * </pre>
 */
final class Acquisition {

  private enum State {
    /** Not sent under the present lease. */
    PENDING,
    /** Sent, and sent again after a resume until granted. */
    ASKED,
    HELD,
    /** Released or given up; the release is sent until it is certain. */
    LEAVING,
    ENDED
  }

  /** Some 400 to 800 ms between attempts while the server says that it cannot serve. */
  private static final int RETRY_STEP = 5;

  private final String requestId;
  private final LockRequest request;
  private final Surroundings around;
  private final Link link;
  private final long askedAtNanos;
  private final CompletableFuture<LockHandle> result = new CompletableFuture<>();
  private final CompletableFuture<ReleaseResult> left = new CompletableFuture<>();
  private final Tenure tenure;
  private State state = State.PENDING;
  private Optional<SessionRequest> sent = Optional.empty();
  private Optional<Loop.Timer> limit = Optional.empty();
  private Optional<Loop.Timer> retry = Optional.empty();
  private long lastSequence;
  private boolean heard;

  Acquisition(LockRequest request, Surroundings around, Link link) {
    this(UUID.randomUUID().toString(), request, around, link);
  }

  Acquisition(String requestId, LockRequest request, Surroundings around, Link link) {
    this.requestId = requestId;
    this.request = request;
    this.around = around;
    this.link = link;
    this.askedAtNanos = around.loop().nanos();
    this.tenure = new Tenure(this, around, link);
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

  /** Returns whether {@code handle} is the grant. From any thread. */
  boolean wasGrantedAs(LockHandle handle) {
    return result.isDone() && !result.isCompletedExceptionally() && result.join() == handle;
  }

  /** Completes on the loop when the server holds nothing of this for certain. */
  CompletableFuture<ReleaseResult> left() {
    return left;
  }

  /** Begins: sends the request if that can be done now. */
  void start() {
    long patience = around.settings().requestTimeout().toNanos();
    long wait = request.waitLimit().map(Requests::nanos).orElse(0L);
    limit = Optional.of(around.loop().schedule(wait + patience, this::onLimit));
    send();
  }

  /** A stream is open: sends what the server may not know. */
  void onOpened() {
    send();
    tenure.calls().onOpened();
  }

  private void send() {
    retry.ifPresent(Loop.Timer::cancel);
    retry = Optional.empty();
    switch (state) {
      case PENDING -> {
        long waited = around.loop().nanos() - askedAtNanos;
        String holder = around.settings().holder();
        SessionRequest message = Requests.acquire(request, requestId, holder, waited);
        if (link.send(message)) {
          sent = Optional.of(message);
          state = State.ASKED;
        }
      }
      case ASKED -> sent.ifPresent(link::send);
      case LEAVING -> link.send(Requests.release(requestId, tenure.fencingToken()));
      case HELD, ENDED -> {} // The server tells the state of what it granted by itself.
    }
  }

  /** The server tells what happened; what was told before is ignored. */
  void onEvent(AcquireResponse event) {
    if (event.getSequence() <= lastSequence || state == State.ENDED) {
      return;
    }
    lastSequence = event.getSequence();
    onHeard();
    switch (event.getEventCase()) {
      case QUEUED -> onQueued(event.getQueued().getPositionsList());
      case POSITION -> onQueued(event.getPosition().getPositionsList());
      case GRANTED -> onGranted(event.getGranted());
      case RELEASE_REQUESTED, JEOPARDY, SAFE -> tenure.onNews(event);
      case LOST -> onLost(Protos.toLossReason(event.getLost().getReason()));
      case NOT_ACQUIRED -> fail(Protos.toException(request.names(), event.getNotAcquired()));
      case RELEASED -> onReleasedEvent();
      case EVENT_NOT_SET -> {} // From a newer server; this client has no use for it.
    }
  }

  /** From the first sign of life on, only a request with a wait limit has a limit. */
  private void onHeard() {
    if (!heard && request.waitLimit().isEmpty()) {
      limit.ifPresent(Loop.Timer::cancel);
    }
    heard = true;
  }

  private void onQueued(List<QueuePosition> positions) {
    if (state == State.ASKED && !positions.isEmpty()) {
      around.callbacks().runIfRoom(() -> News.places(request.listener(), positions));
    }
  }

  private void onGranted(Granted granted) {
    boolean wanted = state == State.ASKED || state == State.PENDING; // Pending: asked before.
    if (!wanted || granted.getGrantsCount() == 0) {
      return; // Given up: the release is on its way, and frees this grant as well.
    }
    state = State.HELD;
    limit.ifPresent(Loop.Timer::cancel);
    Hold granting = tenure.begin(granted);
    result.complete(granting);
  }

  /** The client's own deadline is near. */
  void onAboutToExpire(long remainingNanos) {
    tenure.onAboutToExpire(remainingNanos);
  }

  private void onLost(LossReason reason) {
    tenure.onLost(reason);
    end(new LeaseLostException(request.names(), reason), ReleaseResult.LOST);
  }

  /** The server says what the release did. */
  void onReleased(ReleaseResponse response) {
    if (state == State.HELD) {
      onLost(LossReason.FORCED); // Released, but not by us.
    } else {
      end(NotAcquiredException.withdrawn(request, ""), Protos.toReleaseResult(response));
    }
  }

  private void onReleasedEvent() {
    if (state == State.HELD) {
      onLost(LossReason.FORCED);
    } else if (state != State.LEAVING) { // Leaving, what the release did is said by its answer.
      end(NotAcquiredException.withdrawn(request, ""), ReleaseResult.ALREADY_RELEASED);
    }
  }

  /** The holder has something to say to the server. */
  void ask(SessionRequest message, CompletableFuture<Void> answer) {
    tenure.ask(message, answer);
  }

  /** The server has done what the holder asked. */
  void onAnswered() {
    tenure.calls().onAnswered();
  }

  /** The server refused the request, or its release. */
  void onRefused(Refused refused) {
    Status.Code code = Status.fromCodeValue(refused.getCode()).getCode();
    if (state == State.LEAVING) {
      if (code == Status.Code.NOT_FOUND || code == Status.Code.FAILED_PRECONDITION) {
        // The server holds nothing under this id.
        end(NotAcquiredException.withdrawn(request, ""), ReleaseResult.ALREADY_RELEASED);
      } else {
        sendLater(); // Whatever the reason, the release was not done.
      }
    } else if (state == State.HELD) {
      tenure.calls().onRefused(code, refused);
    } else if (Protos.isPassing(code)) {
      if (state == State.ASKED) {
        state = State.PENDING; // A refused request has changed nothing: it may wait for later.
      }
      sendLater();
    } else if (code == Status.Code.NOT_FOUND) {
      fail(new LeaseLostException(request.names(), LossReason.LEASE_UNKNOWN));
    } else {
      fail(new RequestRefusedException(code, refused.getMessage(), refused.getField()));
    }
  }

  private void sendLater() {
    retry.ifPresent(Loop.Timer::cancel);
    long pause = around.backoff().nanosAfter(RETRY_STEP);
    retry = Optional.of(around.loop().schedule(pause, this::send));
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
      end(why, ReleaseResult.LOST);
    }
  }

  /** The caller wants it no more: withdraws a request, releases a hold. */
  void giveUp(LockkeeperException why) {
    switch (state) {
      case PENDING -> end(why, ReleaseResult.ALREADY_RELEASED);
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
    stopTimers();
    tenure.onReleasing();
    send();
  }

  private void onLimit() {
    boolean timedOut = heard && request.waitLimit().isPresent() && state == State.ASKED;
    giveUp(timedOut ? NotAcquiredException.timedOut(request) : link.unavailable());
  }

  private void stopTimers() {
    limit.ifPresent(Loop.Timer::cancel);
    retry.ifPresent(Loop.Timer::cancel);
  }

  private void end(LockkeeperException unlessGranted, ReleaseResult unlessReleased) {
    state = State.ENDED;
    stopTimers();
    tenure.onEnded(unlessReleased.outcome() != ReleaseResult.Outcome.LOST);
    link.ended(this);
    result.completeExceptionally(unlessGranted);
    left.complete(unlessReleased);
  }
}
