package io.lockkeeper.server.rpc.forward;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A call as this coordinator's own service sees it. If the service refuses it because the lease is
 * not served here, and has answered nothing yet, then the refusal is kept from the client.
 */
final class LocalAttempt<Q, R> extends SimpleForwardingServerCall<Q, R> {

  private final RoutedCall<Q, R> routed;
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicBoolean firstIsAtHand;
  private volatile boolean answered;

  /**
   * Begins an attempt.
   *
   * @param again whether the first request has come already and will be given to the service again
   */
  LocalAttempt(ServerCall<Q, R> call, RoutedCall<Q, R> routed, boolean again) {
    super(call);
    this.routed = routed;
    this.firstIsAtHand = new AtomicBoolean(again);
  }

  @Override
  public void request(int count) {
    if (!over.get()) {
      routed.request(count, firstIsAtHand.getAndSet(false));
    }
  }

  @Override
  public void sendHeaders(Metadata headers) {
    if (!over.get()) {
      answered = true;
      routed.answeredHere();
      super.sendHeaders(headers);
    }
  }

  @Override
  public void sendMessage(R message) {
    if (!over.get()) {
      super.sendMessage(message);
    }
  }

  @Override
  public void close(Status status, Metadata trailers) {
    if (!over.compareAndSet(false, true)) {
      return;
    }
    if (!answered && PeerHeaders.isMarked(trailers)) {
      routed.refusedHere(status, trailers);
    } else {
      trailers.discardAll(PeerHeaders.NOT_SERVED_HERE);
      super.close(status, trailers);
    }
  }
}
