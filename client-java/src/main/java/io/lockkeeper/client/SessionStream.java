package io.lockkeeper.client;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One session stream on a connection of its own, so that nothing else stands before its
 * keep-alives. What gRPC calls back is handed to the loop; all methods are for the loop.
 */
final class SessionStream implements ClientResponseObserver<SessionRequest, SessionResponse> {

  /** How many responses may lie in the loop's queue. */
  private static final int WINDOW = 256;

  /** How many have been handled when as many more are asked for: to ask costs as much as one. */
  private static final int STEP = WINDOW / 2;

  /** What one message may carry; the server takes no more requests, and far more bytes. */
  private static final int BATCH_REQUESTS = 256;

  private static final int BATCH_BYTES = 32 * 1024;

  private static final long FAREWELL_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final ManagedChannel channel;
  private final Loop loop;
  private final Owner owner;
  private final ClientCallStreamObserver<SessionRequest> requests;
  private final List<SessionRequest> waiting = new ArrayList<>();
  private final Runnable flush = this::flush;
  private boolean batches;
  private int waitingBytes;
  private int handled;
  private boolean over;

  /** Who hears of the stream, until it has given it up. */
  interface Owner {
    /** The server sent something. */
    void onResponse(SessionResponse response);

    /** The stream has ended or could not be made; nothing follows. */
    void onEnd(Status status);
  }

  SessionStream(ManagedChannel channel, Loop loop, Owner owner) {
    this.channel = channel;
    this.loop = loop;
    this.owner = owner;
    this.requests = (ClientCallStreamObserver<SessionRequest>) open();
  }

  /** The stream must not end with what the calling thread is at, a call of another server's say. */
  private StreamObserver<SessionRequest> open() {
    Context before = Context.ROOT.attach();
    try {
      return LockServiceGrpc.newStub(channel).session(this);
    } finally {
      Context.ROOT.detach(before);
    }
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<SessionRequest> call) {
    call.disableAutoRequestWithInitial(WINDOW);
  }

  @Override
  public void onNext(SessionResponse response) {
    loop.receive(() -> handle(response));
  }

  private void handle(SessionResponse response) {
    if (!over) {
      handled++;
      if (handled == STEP) {
        handled = 0;
        requests.request(STEP);
      }
      if (response.hasBatch()) {
        response.getBatch().getResponsesList().forEach(this::tell);
      } else {
        tell(response);
      }
    }
  }

  private void tell(SessionResponse response) {
    if (!over) { // One response may end the stream for those behind it.
      owner.onResponse(response);
    }
  }

  @Override
  public void onError(Throwable failure) {
    end(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    end(Status.UNAVAILABLE.withDescription("the server ended the stream"));
  }

  private void end(Status status) {
    loop.execute(
        () -> {
          if (!over) {
            over = true;
            channel.shutdownNow();
            owner.onEnd(status);
          }
        });
  }

  /** The server takes several requests in one: much cheaper, as gRPC's cost is by message. */
  void batch() {
    batches = true;
  }

  /** Sends a request, unless the stream is over; with others of the same turn, if that may be. */
  void send(SessionRequest request) {
    if (over) {
      return;
    }
    if (!batches) {
      requests.onNext(request);
      return;
    }
    int bytes = request.getSerializedSize();
    if (waiting.size() == BATCH_REQUESTS || waitingBytes + bytes > BATCH_BYTES) {
      flush();
    }
    if (waiting.isEmpty()) {
      loop.atEndOfTurn(flush);
    }
    waiting.add(request);
    waitingBytes += bytes;
  }

  private void flush() {
    if (!over && !waiting.isEmpty()) {
      requests.onNext(waiting.size() == 1 ? waiting.get(0) : Requests.batch(waiting));
      waiting.clear();
      waitingBytes = 0;
    }
  }

  /** Gives the stream up at once. The owner hears nothing more. */
  void abandon() {
    if (!over) {
      over = true;
      requests.cancel("the client gave the stream up", null);
      channel.shutdownNow();
    }
  }

  /** Gives the stream up, but lets what was sent get through. The owner hears nothing more. */
  void retire() {
    if (!over) {
      flush();
      over = true;
      requests.onCompleted();
      channel.shutdown();
      loop.schedule(FAREWELL_NANOS, channel::shutdownNow);
    }
  }

  /** Closes the connection, whatever is under way. */
  void shutDown() {
    over = true;
    channel.shutdownNow();
  }
}
