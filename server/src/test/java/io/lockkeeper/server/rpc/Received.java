package io.lockkeeper.server.rpc;

import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.lockkeeper.server.testing.Calls;
import java.util.Optional;
import org.awaitility.Awaitility;

/** What a client receives on a stream. */
public final class Received<Q, R> implements ClientResponseObserver<Q, R> {

  public final Calls<R> messages = new Calls<>("a message");
  private final Calls<Optional<Throwable>> end = new Calls<>("the end of the stream");
  private final boolean reads;
  private volatile ClientCallStreamObserver<Q> call;

  private Received(boolean reads) {
    this.reads = reads;
  }

  public static <Q, R> Received<Q, R> all() {
    return new Received<>(true);
  }

  /** A client that reads only what it asks for with {@link #read}. */
  public static <Q, R> Received<Q, R> nothing() {
    return new Received<>(false);
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<Q> stream) {
    call = stream;
    if (!reads) {
      stream.disableAutoRequestWithInitial(0);
    }
  }

  public void read(int count) {
    call.request(count);
  }

  public void cancel() {
    call.cancel("test", null);
  }

  public R next() {
    return messages.next();
  }

  /** Returns how the stream ended, waiting for it. */
  public Status end() {
    return end.next().map(Status::fromThrowable).orElse(Status.OK);
  }

  /** Returns whether a message comes before the stream ends, waiting for either. */
  public boolean isServed() {
    Awaitility.await().until(() -> !messages.isEmpty() || hasEnded());
    return !messages.isEmpty();
  }

  /** Returns whether the stream has ended. */
  public boolean hasEnded() {
    return !end.isEmpty();
  }

  /** Returns what the stream ended with, waiting for it. */
  Throwable failure() {
    return end.next().orElseThrow();
  }

  @Override
  public void onNext(R message) {
    messages.add(message);
  }

  @Override
  public void onError(Throwable cause) {
    end.add(Optional.of(cause));
  }

  @Override
  public void onCompleted() {
    end.add(Optional.empty());
  }
}
