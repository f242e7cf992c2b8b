package io.lockkeeper.server.rpc.forward;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.lockkeeper.server.rpc.wire.NamedLease;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * A call that goes on at a peer. One message at a time is taken from either side, and only while
 * the other side has room: a slow reader is felt by whoever sends, and nothing piles up here. What
 * happens, happens in the turns of the call.
 */
final class ForwardedCall<Q, R> extends ServerCall.Listener<Q> implements PeerLink.Traffic {

  private final ServerCall<Q, R> call;
  private final RoutedCall<Q, R> routed;
  private final PeerLink link;
  private final Executor turns;
  private final ClientCall<Q, R> there;
  private final boolean stream;
  private boolean over;
  private boolean clientIsFull;
  private boolean peerIsFull;

  ForwardedCall(
      ServerCall<Q, R> call,
      RoutedCall<Q, R> routed,
      PeerLink link,
      Optional<Deadline> deadline,
      Executor turns) {
    this.call = call;
    this.routed = routed;
    this.link = link;
    this.turns = turns;
    CallOptions options =
        deadline.map(CallOptions.DEFAULT::withDeadline).orElse(CallOptions.DEFAULT);
    this.there = link.channel().newCall(call.getMethodDescriptor(), options);
    this.stream = NamedLease.isStream(call.getMethodDescriptor());
  }

  /** Sends the first request. */
  void start(Metadata headers, Q first, boolean halfClosed) {
    if (!link.enter(this)) {
      over = true;
      routed.onGivenUp(PeerFailure.tooMuch());
      return;
    }
    there.start(new PeerListener(), headers);
    there.request(1);
    link.sent();
    there.sendMessage(first);
    if (halfClosed) {
      there.halfClose();
    }
  }

  // What the client does.

  @Override
  public void onMessage(Q message) {
    if (!over) {
      link.sent();
      there.sendMessage(message);
      readFromClient();
    }
  }

  private void readFromClient() {
    peerIsFull = !there.isReady();
    if (!peerIsFull && stream && routed.isAnswered()) {
      routed.requestNext();
    }
  }

  @Override
  public void onHalfClose() {
    if (!over) {
      there.halfClose();
    }
  }

  @Override
  public void onReady() {
    if (clientIsFull && call.isReady()) {
      readFromPeer();
    }
  }

  private void readFromPeer() {
    clientIsFull = !call.isReady();
    if (!clientIsFull) {
      there.request(1);
    }
  }

  @Override
  public void onCancel() {
    hangUp();
  }

  @Override
  public void onComplete() {
    hangUp();
  }

  private void hangUp() {
    if (!over) {
      over = true;
      link.leave(this);
      there.cancel("the client's call is over", null);
    }
  }

  // What the peer does.

  @Override
  public void onSilence() {
    turns.execute(
        () -> {
          if (!over) {
            hangUp();
            lost();
          }
        });
  }

  private void onAnswer(R answer) {
    link.heard();
    if (over || routed.isEnded()) {
      return;
    }
    if (routed.answeredByPeer()) {
      call.sendHeaders(new Metadata());
      readFromClient();
    }
    call.sendMessage(answer);
    readFromPeer();
  }

  private void onEnd(Status status, Metadata trailers) {
    if (over) {
      return;
    }
    over = true;
    link.leave(this);
    if (routed.isEnded()) {
      return;
    }
    if (PeerFailure.isOnTheWay(status, trailers)) {
      link.unreachable(status);
      lost();
      return;
    }
    link.heard();
    if (PeerHeaders.isMarked(trailers) && !routed.isAnswered()) {
      routed.searchOn();
    } else if (status.isOk() || PeerFailure.isPassedOn(status, trailers)) {
      routed.finish(status.withCause(null), PeerFailure.details(trailers));
    } else {
      routed.sendAway(Statuses.of(status.asRuntimeException()));
    }
  }

  /** The peer may have done what it was asked or not; all that is forwarded may be asked again. */
  private void lost() {
    if (routed.isAnswered()) {
      routed.sendAway(
          Statuses.unreachable("lost contact with coordinator " + link.peer().id(), Duration.ZERO));
    } else {
      routed.lostPeer();
    }
  }

  /** Hears the peer, on the threads for calls. */
  private final class PeerListener extends ClientCall.Listener<R> {
    @Override
    public void onMessage(R answer) {
      turns.execute(() -> onAnswer(answer));
    }

    @Override
    public void onReady() {
      turns.execute(
          () -> {
            if (!over && peerIsFull) {
              readFromClient();
            }
          });
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      turns.execute(() -> onEnd(status, trailers));
    }
  }
}
