package io.lockkeeper.client.internal.session;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionRequestBatch;
import io.lockkeeper.v1.SessionResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One session stream, on a separate connection so that nothing else delays its keep-alives. gRPC's
 * callbacks are passed to the loop; all other methods are for the loop.
 */
public final class SessionStream
    implements ClientResponseObserver<SessionRequest, SessionResponse> {

  /** How many responses may wait in the loop's queue. */
  private static final int WINDOW = 256;

  /**
   * After this many, as many more are requested: a request costs as much as handling a response.
   */
  private static final int STEP = WINDOW / 2;

  // The server takes 256 requests and 64 KiB.
  private static final int BATCH_REQUESTS = 200;
  private static final int BATCH_BYTES = 32 * 1024;

  private static final long FAREWELL_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final ManagedChannel channel;
  private final Loop loop;
  private final StreamListener listener;
  private final ClientCallStreamObserver<SessionRequest> requests;
  private final List<SessionRequest> waiting = new ArrayList<>();
  private int waitingBytes;
  private boolean batches;
  private boolean flushIsDue;
  private int handled;
  private boolean over;

  /** Is told what happens to the stream, until it abandons or retires it. */
  public interface StreamListener {
    /** The server sent something. */
    void onResponse(SessionResponse response);

    /** The stream has ended or could not be made; nothing follows. */
    void onEnd(ErrorDetails why);
  }

  public SessionStream(ManagedChannel channel, Loop loop, StreamListener listener) {
    this.channel = channel;
    this.loop = loop;
    this.listener = listener;
    this.requests = (ClientCallStreamObserver<SessionRequest>) open();
  }

  /**
   * The stream must not end with the calling thread's gRPC context, such as a call that it serves.
   */
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
    loop.executeReceived(() -> handle(response));
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
    if (!over) {
      batches |= response.getOpened().getBatches();
      listener.onResponse(response);
    }
  }

  @Override
  public void onError(Throwable failure) {
    end(ErrorDetails.of(failure));
  }

  @Override
  public void onCompleted() {
    end(ErrorDetails.of(Status.UNAVAILABLE.withDescription("the server ended the stream")));
  }

  private void end(ErrorDetails why) {
    loop.execute(
        () -> {
          if (!over) {
            over = true;
            channel.shutdownNow();
            listener.onEnd(why);
          }
        });
  }

  /**
   * Sends a request, unless the stream is over. If the server takes batches, all that the loop
   * sends in one run goes out together; a keep-alive goes out at once, with all that is before it.
   */
  public void send(SessionRequest request) {
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
    waiting.add(request);
    waitingBytes += bytes;
    if (request.hasKeepAlive()) {
      flush();
    } else if (!flushIsDue) {
      flushIsDue = true;
      loop.executeAfterBatch(this::flushAfterBatch);
    }
  }

  private void flushAfterBatch() {
    flushIsDue = false;
    flush();
  }

  /** Sends what waits, as one message. */
  private void flush() {
    List<SessionRequest> parts = List.copyOf(waiting);
    waiting.clear();
    waitingBytes = 0;
    if (over || parts.isEmpty()) {
      return;
    }
    if (parts.size() == 1) {
      requests.onNext(parts.get(0));
      return;
    }
    SessionRequestBatch batch = SessionRequestBatch.newBuilder().addAllRequests(parts).build();
    requests.onNext(SessionRequest.newBuilder().setBatch(batch).build());
  }

  /** Cancels the stream. The listener is told nothing more. */
  public void abandon() {
    if (!over) {
      over = true;
      requests.cancel("the client gave the stream up", null);
      channel.shutdownNow();
    }
  }

  /** Ends the stream after what was sent. The listener is told nothing more. */
  public void retire() {
    if (!over) {
      flush();
      over = true;
      requests.onCompleted();
      channel.shutdown();
      loop.schedule(FAREWELL_NANOS, channel::shutdownNow);
    }
  }

  /** Closes the connection, whatever is in progress. */
  public void shutDown() {
    over = true;
    channel.shutdownNow();
  }
}
