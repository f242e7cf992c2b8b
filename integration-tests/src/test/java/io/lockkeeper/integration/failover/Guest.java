package io.lockkeeper.integration.failover;

import com.google.protobuf.util.Durations;
import io.grpc.Channel;
import io.grpc.Status.Code;
import io.lockkeeper.integration.harness.KeepAlives;
import io.lockkeeper.integration.harness.KeepAlives.Acknowledged;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Timed.Arrival;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;

/**
 * A client on the bare stub: one lease on one session stream, renewed all the time, that can go on
 * at another coordinator with the same requests.
 */
final class Guest implements AutoCloseable {

  /** Longer than a coordinator takes to start, also on a busy machine. */
  static final Duration TTL = Duration.ofSeconds(40);

  private static final int RELEASES = 5;
  private static final Duration RENEWAL = Duration.ofMillis(300);

  private final Map<String, AcquireRequest> requests = new LinkedHashMap<>();
  private final Map<String, List<Long>> tokens = new LinkedHashMap<>();
  private final String leaseId;
  private final String secret;
  private final List<Acknowledged> promises = new ArrayList<>();
  private Channel channel;
  private SessionStream stream;
  private KeepAlives keepAlives;

  private Guest(Channel channel, SessionStream stream, SessionOpened opened) {
    this.channel = channel;
    this.leaseId = opened.getLeaseId();
    this.secret = opened.getLeaseSecret();
    this.stream = stream;
    this.keepAlives = KeepAlives.of(stream, RENEWAL);
  }

  /** Opens a lease. */
  static Guest at(Channel channel) {
    return at(channel, TTL);
  }

  /** Opens a lease with a time to live, trying again while the coordinator says that it cannot. */
  static Guest at(Channel channel, Duration ttl) {
    SessionStream stream = awaitOpen(channel, OpenSession.newBuilder().setTtl(proto(ttl)).build());
    return new Guest(channel, stream, stream.awaitOpened());
  }

  /** Returns the session stream of now. */
  SessionStream stream() {
    return stream;
  }

  /** Returns the lease. */
  String leaseId() {
    return leaseId;
  }

  /** Asks for an exclusive lock. */
  void ask(String requestId, String lock) {
    ask(requestId, lock(lock, LockMode.LOCK_MODE_EXCLUSIVE));
  }

  /** Asks for locks. */
  void ask(String requestId, LockRequest... locks) {
    ask(AcquireRequest.newBuilder().setRequestId(requestId).addAllLocks(List.of(locks)).build());
  }

  /** Asks for locks. */
  void ask(AcquireRequest request) {
    requests.put(request.getRequestId(), request);
    stream.acquire(request);
  }

  /** Asks for an exclusive lock and waits for it; returns its token. */
  long take(String requestId, String lock) {
    ask(requestId, lock);
    return awaitToken(requestId);
  }

  /** Asks for an exclusive lock and waits until it is queued behind somebody. */
  void queue(String requestId, String lock) {
    ask(requestId, lock);
    await(requestId, EventCase.QUEUED);
  }

  /** Waits for the grant, and returns the token of its first lock. */
  long awaitToken(String requestId) {
    return awaitGrants(requestId).get(0).getFencingToken();
  }

  /** Waits for the grants of a request, on the stream of now. */
  List<Grant> awaitGrants(String requestId) {
    List<Grant> grants = await(requestId, EventCase.GRANTED).getGranted().getGrantsList();
    tokens.put(requestId, grants.stream().map(Grant::getFencingToken).toList());
    return grants;
  }

  /** Waits for an event, on the stream of now. */
  AcquireResponse await(String requestId, EventCase wanted) {
    return stream.await(requestId, wanted).value().getEvent();
  }

  /** Returns an event if it has come, on the stream of now. */
  Optional<AcquireResponse> find(String requestId, EventCase wanted) {
    return stream
        .responses()
        .find(
            response ->
                response.hasEvent()
                    && response.getEvent().getRequestId().equals(requestId)
                    && response.getEvent().getEventCase() == wanted)
        .map(arrival -> arrival.value().getEvent());
  }

  /**
   * Releases, waits for the answer and says what it was. If the stream ends before, it is resumed
   * where it was, and the release repeated there.
   */
  ReleaseOutcome release(String requestId) {
    requests.remove(requestId);
    tokens.remove(requestId);
    for (int i = 0; i < RELEASES; i++) {
      stream.release(requestId);
      Awaitility.await("an answer to the release of " + requestId)
          .pollInterval(Duration.ofMillis(10))
          .until(() -> isAway(stream) || released(requestId).isPresent());
      if (released(requestId).isPresent()) {
        return released(requestId).get();
      }
      resumeAt(channel);
    }
    throw new AssertionError("sent away again and again");
  }

  private Optional<ReleaseOutcome> released(String requestId) {
    return stream
        .responses()
        .find(r -> r.hasReleased() && r.getReleased().getRequestId().equals(requestId))
        .map(answer -> answer.value().getReleased().getResult().getOutcome());
  }

  /** Renews no more, and says nothing. */
  void freeze() {
    promises.addAll(keepAlives.acknowledged());
    keepAlives.close();
  }

  /** Returns until when the client may use what it holds, by all that was promised so far. */
  long validUntilNanos() {
    List<Acknowledged> all = new ArrayList<>(promises);
    all.addAll(keepAlives.acknowledged());
    return all.stream().mapToLong(Acknowledged::validUntilNanos).max().orElseThrow();
  }

  /** Waits until a renewal is answered that extends the lease beyond a moment. */
  void awaitValidBeyond(long nanos) {
    Awaitility.await("a renewal").until(() -> validUntilNanos() - nanos > 0);
  }

  /** Waits until a stream has said goodbye or has broken. */
  static void awaitAway(SessionStream stream) {
    Awaitility.await("the end of a session stream")
        .pollInterval(Duration.ofMillis(20))
        .until(() -> isAway(stream));
  }

  private static boolean isAway(SessionStream stream) {
    return stream.responses().end().isPresent()
        || stream.responses().find(SessionResponse::hasGoingAway).isPresent();
  }

  /**
   * Goes on at a coordinator: resumes the lease there, trying again while nobody serves it, and
   * repeats every request. The stream before is left as it is.
   */
  void moveTo(Channel next) {
    resumeAt(next);
    requests.values().forEach(request -> stream.acquire(repeated(request)));
  }

  /** Resumes the lease, and repeats nothing. */
  void resumeAt(Channel next) {
    freeze();
    channel = next;
    stream =
        awaitOpen(
            channel, OpenSession.newBuilder().setLeaseId(leaseId).setLeaseSecret(secret).build());
    keepAlives = KeepAlives.of(stream, RENEWAL);
  }

  private static SessionStream awaitOpen(Channel channel, OpenSession open) {
    return Awaitility.await("a session")
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> tryOpen(channel, open), Optional::isPresent)
        .orElseThrow();
  }

  private static Optional<SessionStream> tryOpen(Channel channel, OpenSession open) {
    SessionStream next = SessionStream.with(channel, open);
    Awaitility.await("an answer")
        .pollInterval(Duration.ofMillis(10))
        .until(
            () ->
                next.responses().end().isPresent()
                    || next.responses().find(SessionResponse::hasOpened).isPresent());
    Optional<Arrival<SessionResponse>> opened = next.responses().find(SessionResponse::hasOpened);
    if (opened.isPresent()) {
      return Optional.of(next);
    }
    // Who comes to a coordinator that is about to stop is sent on before it is let in.
    boolean sentOn = next.responses().find(SessionResponse::hasGoingAway).isPresent();
    Code code = next.responses().end().orElseThrow().getCode();
    if (code != Code.UNAVAILABLE && !sentOn) {
      throw new AssertionError("refused for good: " + next.responses().end());
    }
    return Optional.empty();
  }

  /** Returns a request as it is repeated: with the tokens that it was granted. */
  AcquireRequest repeated(AcquireRequest request) {
    return request.toBuilder()
        .addAllHeldTokens(tokens.getOrDefault(request.getRequestId(), List.of()))
        .build();
  }

  /** Returns a lock of a mode. */
  static LockRequest lock(String name, LockMode mode) {
    return LockRequest.newBuilder().setName(name).setMode(mode).build();
  }

  /** Returns a duration for a message. */
  static com.google.protobuf.Duration proto(Duration duration) {
    return Durations.fromNanos(duration.toNanos());
  }

  /** Ends the lease. */
  @Override
  public void close() {
    keepAlives.close();
    stream.close();
  }
}
