package io.lockkeeper.client;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.SessionResponse;
import java.util.function.UnaryOperator;

/** Passes a server's responses on, changed as a test says. */
record Relay(StreamObserver<SessionResponse> client, UnaryOperator<SessionResponse> change)
    implements StreamObserver<SessionResponse> {

  @Override
  public void onNext(SessionResponse response) {
    client.onNext(change.apply(response));
  }

  @Override
  public void onError(Throwable failure) {
    client.onError(failure);
  }

  @Override
  public void onCompleted() {
    client.onCompleted();
  }
}
