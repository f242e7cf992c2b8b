package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireResponse;

/** One Acquire call, while somebody hears it. */
record FakeCall(StreamObserver<AcquireResponse> responses) {

  void tell(AcquireResponse event) {
    responses.onNext(event);
    if (event.hasLost() || event.hasNotAcquired() || event.hasReleased()) {
      responses.onCompleted();
    }
  }

  /** The same request came again on another call, which hears from now on. */
  void supersede() {
    responses.onError(
        FakeChecks.failure(Status.ABORTED, "the same request came again on another stream"));
  }
}
