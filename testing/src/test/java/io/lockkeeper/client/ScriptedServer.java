package io.lockkeeper.client;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;

/** A server that answers sessions as a test says, and writes down what it is asked. */
final class ScriptedServer implements AutoCloseable {

  /** What a lease lives, as this server says. */
  static final long TTL_SECONDS = 15;

  private final String name = "scripted-" + UUID.randomUUID();
  private final ManualClock clock;
  private final Loop loop;
  private final Server server;

  /** The messages of each session stream, in the order in which they came. */
  private final List<List<SessionRequest>> streams = new CopyOnWriteArrayList<>();

  private final List<StreamObserver<SessionResponse>> clients = new ArrayList<>();
  private volatile BiConsumer<SessionRequest, StreamObserver<SessionResponse>> script =
      ScriptedServer::answerOpen;

  ScriptedServer(ManualClock clock) {
    this.clock = clock;
    this.loop = Loop.on(clock, "scripted-server");
    this.server =
        InProcessServerBuilder.forName(name).executor(loop).addService(new Sessions()).build();
    try {
      server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ManagedChannel connect() {
    return InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  /** Answers requests so from now on. */
  void script(BiConsumer<SessionRequest, StreamObserver<SessionResponse>> answers) {
    script = answers;
  }

  /** Opens or resumes, and closes; everything else is left without an answer. */
  static void answerOpen(SessionRequest request, StreamObserver<SessionResponse> client) {
    if (request.hasOpen()) {
      client.onNext(opened(request.getOpen()));
    }
    if (request.hasClose()) {
      client.onNext(
          SessionResponse.newBuilder().setLeaseEnded(LeaseEnded.getDefaultInstance()).build());
    }
  }

  /** Opens or resumes, and acknowledges keep-alives. */
  static void keepAlive(SessionRequest request, StreamObserver<SessionResponse> client) {
    answerOpen(request, client);
    if (request.hasKeepAlive()) {
      client.onNext(keptAlive(request.getKeepAlive().getNonce()));
    }
  }

  private static SessionResponse opened(OpenSession open) {
    boolean resumed = !open.getLeaseId().isEmpty();
    SessionOpened.Builder opened =
        SessionOpened.newBuilder()
            .setLeaseId("lease")
            .setLeaseSecret(resumed ? "" : "secret")
            .setLeaseTag("tag")
            .setBatches(open.getBatches())
            .setResumed(resumed);
    opened.getTtlBuilder().setSeconds(TTL_SECONDS);
    opened.getValidForBuilder().setSeconds(TTL_SECONDS);
    return SessionResponse.newBuilder().setOpened(opened).build();
  }

  static SessionResponse keptAlive(long nonce) {
    SessionKeptAlive.Builder kept = SessionKeptAlive.newBuilder().setNonce(nonce);
    kept.getValidForBuilder().setSeconds(TTL_SECONDS);
    return SessionResponse.newBuilder().setKeptAlive(kept).build();
  }

  static SessionResponse keepAliveRefused(long nonce, Status.Code code) {
    return SessionResponse.newBuilder()
        .setRefused(Refused.newBuilder().setNonce(nonce).setCode(code.value()))
        .build();
  }

  static SessionResponse goingAway() {
    return SessionResponse.newBuilder().setGoingAway(GoingAway.getDefaultInstance()).build();
  }

  static SessionResponse refused(String id, Status.Code code) {
    return SessionResponse.newBuilder()
        .setRefused(Refused.newBuilder().setId(id).setCode(code.value()))
        .build();
  }

  static SessionResponse event(AcquireResponse.Builder event, String id, long sequence) {
    return SessionResponse.newBuilder()
        .setEvent(event.setRequestId(id).setSequence(sequence))
        .build();
  }

  static SessionResponse granted(String id, long sequence, String lock, long token) {
    return event(
        AcquireResponse.newBuilder()
            .setGranted(
                Granted.newBuilder()
                    .addGrants(Grant.newBuilder().setName(lock).setFencingToken(token))),
        id,
        sequence);
  }

  /** Has a client granted the lock that it asks for first, and keeps its lease alive. */
  LockHandle hold(LockkeeperClient client, String lock) {
    script(ScriptedServer::keepAlive);
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of(lock));
    clock.settle();
    send(granted(wishes().get(0).getAcquire().getRequestId(), 1, lock, 5));
    return asked.join();
  }

  /** Sends over the newest stream. */
  void send(SessionResponse response) {
    loop.execute(() -> clients.get(clients.size() - 1).onNext(response));
    clock.settle();
  }

  /** Breaks the newest stream. */
  void end(Status status) {
    loop.execute(() -> clients.get(clients.size() - 1).onError(status.asRuntimeException()));
    clock.settle();
  }

  /** Returns how many session streams there were. */
  int streamCount() {
    return streams.size();
  }

  /** Returns the messages that came over the newest stream. */
  List<SessionRequest> messages() {
    return List.copyOf(streams.get(streams.size() - 1));
  }

  /** Returns what came over the newest stream, in one message or in several. */
  List<SessionRequest> requests() {
    return messages().stream().flatMap(message -> parts(message).stream()).toList();
  }

  /** Returns the requests of a message. */
  static List<SessionRequest> parts(SessionRequest message) {
    return message.hasBatch() ? message.getBatch().getRequestsList() : List.of(message);
  }

  /** Returns what came over the newest stream, the first request and keep-alives left out. */
  List<SessionRequest> wishes() {
    return requests().stream().filter(r -> !r.hasOpen() && !r.hasKeepAlive()).toList();
  }

  @Override
  public void close() {
    server.shutdownNow();
    loop.stop();
  }

  /** The service. Its executor is the loop. */
  private final class Sessions extends LockServiceGrpc.LockServiceImplBase {
    @Override
    public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> client) {
      List<SessionRequest> requests = new CopyOnWriteArrayList<>();
      streams.add(requests);
      clients.add(client);
      return new StreamObserver<>() {
        @Override
        public void onNext(SessionRequest request) {
          requests.add(request);
          parts(request).forEach(part -> script.accept(part, client));
        }

        @Override
        public void onError(Throwable failure) {
          // The client has gone.
        }

        @Override
        public void onCompleted() {
          client.onCompleted();
        }
      };
    }
  }
}
