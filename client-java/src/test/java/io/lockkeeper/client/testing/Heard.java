package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what comes on a stream. */
final class Heard<T> implements StreamObserver<T> {

  final List<T> messages = new CopyOnWriteArrayList<>();
  final List<Status> ends = new CopyOnWriteArrayList<>();

  @Override
  public void onNext(T message) {
    messages.add(message);
  }

  @Override
  public void onError(Throwable failure) {
    ends.add(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    ends.add(Status.OK);
  }

  T last() {
    return messages.get(messages.size() - 1);
  }
}
