package io.lockkeeper.bench.lockkeeper;

import com.google.protobuf.Duration;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionRequestBatch;
import io.lockkeeper.v1.SessionResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Session streams on which requests are sent as fast as the server reads them, many in a message.
 * What is granted is given back, so that there is always more to ask for.
 */
final class SessionFlood implements Attack {

  private static final Duration TTL = Duration.newBuilder().setSeconds(5).build();
  private static final SessionRequest KEEP_ALIVE =
      SessionRequest.newBuilder().setKeepAlive(SessionKeepAlive.getDefaultInstance()).build();

  private final List<LockServiceGrpc.LockServiceStub> connections;
  private final int batch;
  private final Supplier<SessionRequest> requests;
  private final LongAdder answered;
  private final Deque<Stream> streams = new ArrayDeque<>();
  private volatile boolean stopped;

  /**
   * Will send requests on a stream for each connection.
   *
   * @param batch how many go into a message
   * @param answered counts what is said of them
   */
  SessionFlood(
      List<LockServiceGrpc.LockServiceStub> connections,
      int batch,
      Supplier<SessionRequest> requests,
      LongAdder answered) {
    this.connections = connections;
    this.batch = batch;
    this.requests = requests;
    this.answered = answered;
  }

  @Override
  public void begin() {
    for (LockServiceGrpc.LockServiceStub connection : connections) {
      Stream stream = new Stream(connection);
      streams.add(stream);
      stream.open();
    }
  }

  @Override
  public void end() {
    stopped = true;
    streams.forEach(Stream::end);
  }

  /** One stream, opened again whenever it ends. gRPC tells it one thing after the other. */
  private final class Stream implements ClientResponseObserver<SessionRequest, SessionResponse> {
    private final LockServiceGrpc.LockServiceStub connection;
    private final ConcurrentLinkedQueue<SessionRequest> releases = new ConcurrentLinkedQueue<>();
    private volatile Optional<ClientCallStreamObserver<SessionRequest>> call = Optional.empty();
    private boolean opened;

    Stream(LockServiceGrpc.LockServiceStub connection) {
      this.connection = connection;
    }

    void open() {
      opened = false;
      releases.clear();
      var unused = connection.session(this);
      call.ifPresent(
          stream ->
              stream.onNext(
                  SessionRequest.newBuilder()
                      .setOpen(
                          OpenSession.newBuilder()
                              .setTtl(TTL)
                              .setHolder("hostile")
                              .setBatches(true))
                      .build()));
    }

    void end() {
      call.ifPresent(stream -> stream.cancel("the attack is over", null));
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<SessionRequest> stream) {
      call = Optional.of(stream);
      stream.setOnReadyHandler(this::fill);
    }

    private void fill() {
      while (opened && !stopped && call.map(ClientCallStreamObserver::isReady).orElse(false)) {
        SessionRequestBatch.Builder message = SessionRequestBatch.newBuilder();
        message.addRequests(KEEP_ALIVE);
        for (int i = 0; i < batch; i++) {
          message.addRequests(Optional.ofNullable(releases.poll()).orElseGet(requests));
        }
        call.ifPresent(
            stream -> stream.onNext(SessionRequest.newBuilder().setBatch(message).build()));
      }
    }

    @Override
    public void onNext(SessionResponse response) {
      if (response.hasBatch()) {
        response.getBatch().getResponsesList().forEach(this::onNext);
        return;
      }
      answered.increment();
      if (response.hasOpened()) {
        opened = true;
        fill();
      } else if (response.hasEvent()) {
        heard(response.getEvent());
      }
    }

    private void heard(AcquireResponse event) {
      if (event.hasGranted()) {
        releases.add(
            SessionRequest.newBuilder()
                .setRelease(ReleaseRequest.newBuilder().setRequestId(event.getRequestId()))
                .build());
      }
    }

    @Override
    public void onError(Throwable failure) {
      onCompleted();
    }

    @Override
    public void onCompleted() {
      if (!stopped) {
        open();
      }
    }
  }
}
