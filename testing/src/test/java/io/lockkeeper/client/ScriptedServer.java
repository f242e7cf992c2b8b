package io.lockkeeper.client;

import com.google.protobuf.Any;
import com.google.rpc.RetryInfo;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contended;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

/** A server that answers sessions as a test says, and writes down what it is asked. */
final class ScriptedServer implements AutoCloseable {

  /** The id of every lease that it opens. */
  static final String LEASE = "0123456789abcdef0123456789abcdef";

  /** What a lease lives, as this server says. */
  static final long TTL_SECONDS = 15;

  /** How often it asks for keep-alives. */
  static final long INTERVAL_SECONDS = 5;

  private final String name = "scripted-" + UUID.randomUUID();
  private final ManualClock clock;
  private final Loop loop;
  private final Server server;

  /** The messages of each session stream, in the order in which they came. */
  private final List<List<SessionRequest>> streams = new CopyOnWriteArrayList<>();

  private final List<StreamObserver<SessionResponse>> clients = new ArrayList<>();
  private final AtomicLong epoch = new AtomicLong(1);
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

  /** From now on, it is the server that has taken the lease over from the one before. */
  void takeOver() {
    epoch.incrementAndGet();
  }

  /** Says the epoch, where the test does not. */
  private SessionResponse stamped(SessionResponse response) {
    if (response.getEpoch() != 0) {
      return response;
    }
    SessionResponse.Builder stamped = response.toBuilder().setEpoch(epoch.get());
    if (response.hasEvent()) {
      stamped.getEventBuilder().setEpoch(epoch.get());
    }
    return stamped.build();
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
    SessionOpened.Builder opened =
        SessionOpened.newBuilder()
            .setLeaseId(LEASE)
            .setLeaseTag("tag")
            .setBatches(open.getBatches())
            .setResumed(!open.getLeaseId().isEmpty())
            .setCoordinatorId("scripted");
    opened.getTtlBuilder().setSeconds(TTL_SECONDS);
    opened.getValidForBuilder().setSeconds(TTL_SECONDS);
    opened.getKeepAliveIntervalBuilder().setSeconds(INTERVAL_SECONDS);
    return SessionResponse.newBuilder().setOpened(opened).build();
  }

  static SessionResponse keptAlive(long nonce) {
    SessionKeptAlive.Builder kept = SessionKeptAlive.newBuilder().setNonce(nonce);
    kept.getValidForBuilder().setSeconds(TTL_SECONDS);
    kept.getKeepAliveIntervalBuilder().setSeconds(INTERVAL_SECONDS);
    return SessionResponse.newBuilder().setKeptAlive(kept).build();
  }

  static SessionResponse keepAliveRefused(long nonce, Status.Code code) {
    return SessionResponse.newBuilder()
        .setRefused(Refused.newBuilder().setKeepAlive(nonce).setCode(code.value()))
        .build();
  }

  /** The same refusal, which says when to try again. */
  static SessionResponse after(Duration delay, SessionResponse refused) {
    SessionResponse.Builder delayed = refused.toBuilder();
    delayed.getRefusedBuilder().setRetryAfter(Protos.toProto(delay));
    return delayed.build();
  }

  static SessionResponse goingAway() {
    return goingAway(GoingAwayReason.GOING_AWAY_REASON_DRAINING);
  }

  static SessionResponse goingAway(GoingAwayReason reason) {
    return SessionResponse.newBuilder()
        .setGoingAway(GoingAway.newBuilder().setReason(reason))
        .build();
  }

  /** A request for locks is refused. */
  static SessionResponse refused(String id, Status.Code code) {
    return SessionResponse.newBuilder()
        .setRefused(Refused.newBuilder().setAcquire(id).setCode(code.value()))
        .build();
  }

  static SessionResponse releaseRefused(String id, Status.Code code) {
    return SessionResponse.newBuilder()
        .setRefused(Refused.newBuilder().setRelease(id).setCode(code.value()))
        .build();
  }

  static SessionResponse event(AcquireResponse.Builder event, String id, long sequence) {
    return SessionResponse.newBuilder()
        .setEvent(event.setRequestId(id).setSequence(sequence))
        .build();
  }

  static SessionResponse lost(String id, long sequence) {
    return event(
        AcquireResponse.newBuilder()
            .setLost(Lost.newBuilder().setReason(io.lockkeeper.v1.LossReason.LOSS_REASON_FORCED)),
        id,
        sequence);
  }

  static SessionResponse released(String id, ReleaseOutcome outcome) {
    return SessionResponse.newBuilder()
        .setReleased(
            SessionReleased.newBuilder()
                .setRequestId(id)
                .setResult(ReleaseResponse.newBuilder().setOutcome(outcome)))
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

  static SessionResponse contended(String id, long sequence, String lock, int waiters) {
    return event(
        AcquireResponse.newBuilder()
            .setContended(Contended.newBuilder().setName(lock).setWaiters(waiters)),
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
    post(response);
    clock.settle();
  }

  /** Like {@link #send}, without waiting for what comes of it. */
  void post(SessionResponse response) {
    loop.execute(() -> clients.get(clients.size() - 1).onNext(response));
  }

  /** Like {@link #post}; returns when the client has it, whose loop may be blocked. */
  void deliver(SessionResponse response) {
    post(response);
    loop.settle();
  }

  /** Breaks the newest stream. */
  void end(Status status) {
    end(status.asRuntimeException());
  }

  /** What a server ends a stream or a call with that wants to be left alone. */
  static StatusRuntimeException busyFor(Duration delay) {
    RetryInfo retry = RetryInfo.newBuilder().setRetryDelay(Protos.toProto(delay)).build();
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Status.Code.UNAVAILABLE.value())
            .addDetails(Any.pack(retry))
            .build());
  }

  /** Breaks the newest stream with details. */
  void end(StatusRuntimeException failure) {
    loop.execute(() -> clients.get(clients.size() - 1).onError(failure));
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

  /** The client's end of a stream. */
  private final class Stamping implements StreamObserver<SessionResponse> {
    private final StreamObserver<SessionResponse> client;

    Stamping(StreamObserver<SessionResponse> client) {
      this.client = client;
    }

    @Override
    public void onNext(SessionResponse response) {
      client.onNext(stamped(response));
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

  /** The service. Its executor is the loop. */
  private final class Sessions extends LockServiceGrpc.LockServiceImplBase {
    @Override
    public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> client) {
      List<SessionRequest> requests = new CopyOnWriteArrayList<>();
      streams.add(requests);
      StreamObserver<SessionResponse> stamping = new Stamping(client);
      clients.add(stamping);
      return new StreamObserver<>() {
        @Override
        public void onNext(SessionRequest request) {
          requests.add(request);
          parts(request).forEach(part -> script.accept(part, stamping));
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
