package io.lockkeeper.integration.kinds;

import com.google.protobuf.util.Durations;
import io.grpc.Channel;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.Set;

/** A client with a session of its own, whose tasks (owners) ask for locks. */
final class Tenant implements AutoCloseable {

  private static final Duration TTL = Duration.ofMinutes(2);
  private static final Set<EventCase> FIRST =
      Set.of(EventCase.GRANTED, EventCase.QUEUED, EventCase.NOT_ACQUIRED);

  private final SessionStream session;

  private Tenant(SessionStream session) {
    this.session = session;
    session.awaitOpened();
  }

  /** Opens a session. */
  static Tenant of(Channel channel, String name) {
    return of(channel, name, TTL);
  }

  /** Opens a session whose lease is not renewed. */
  static Tenant of(Channel channel, String name, Duration ttl) {
    return new Tenant(
        SessionStream.with(
            channel,
            OpenSession.newBuilder()
                .setHolder(name)
                .setTtl(Durations.fromMillis(ttl.toMillis()))
                .build()));
  }

  /** Returns the session's stream. */
  SessionStream session() {
    return session;
  }

  /** Returns the lease. */
  String leaseId() {
    return session.awaitOpened().getLeaseId();
  }

  /** Asks, and returns what comes first: granted, queued or not acquired. */
  EventCase ask(String requestId, String owner, LockRequest... locks) {
    return ask(request(requestId, owner, locks).build());
  }

  /** Asks, and returns what comes first: granted, queued or not acquired. */
  EventCase ask(AcquireRequest request) {
    session.acquire(request);
    return session
        .await(
            "answer to " + request.getRequestId(),
            response ->
                isEvent(response, request.getRequestId())
                    && FIRST.contains(response.getEvent().getEventCase()))
        .value()
        .getEvent()
        .getEventCase();
  }

  /** Asks for what must not be taken, and returns the refusal. */
  Refused askInVain(AcquireRequest request) {
    session.acquire(request);
    return session
        .await(
            "refusal of " + request.getRequestId(),
            response ->
                response.hasRefused()
                    && response.getRefused().getAcquire().equals(request.getRequestId()))
        .value()
        .getRefused();
  }

  /** Returns a request, to be completed. */
  static AcquireRequest.Builder request(String requestId, String owner, LockRequest... locks) {
    AcquireRequest.Builder request =
        AcquireRequest.newBuilder().setRequestId(requestId).setOwner(owner);
    for (LockRequest lock : locks) {
      request.addLocks(lock);
    }
    return request;
  }

  /** Waits for the grant of one lock. */
  Grant awaitGrant(String requestId) {
    return await(requestId, EventCase.GRANTED).getGranted().getGrants(0);
  }

  /** Waits for an event. */
  AcquireResponse await(String requestId, EventCase wanted) {
    return session.await(requestId, wanted).value().getEvent();
  }

  /** Waits until the request is not granted. */
  NotAcquired awaitNotAcquired(String requestId) {
    return await(requestId, EventCase.NOT_ACQUIRED).getNotAcquired();
  }

  /** Returns whether an event has come. */
  boolean hasHeard(String requestId, EventCase event) {
    return session
        .responses()
        .find(r -> isEvent(r, requestId) && r.getEvent().getEventCase() == event)
        .isPresent();
  }

  /** Releases, and waits for the answer. */
  ReleaseResponse release(String requestId) {
    session.release(requestId);
    return session
        .await(
            "release of " + requestId,
            response ->
                response.hasReleased() && response.getReleased().getRequestId().equals(requestId))
        .value()
        .getReleased()
        .getResult();
  }

  /** Releases, and returns what that did. */
  ReleaseOutcome outcomeOfRelease(String requestId) {
    return release(requestId).getOutcome();
  }

  private static boolean isEvent(SessionResponse response, String requestId) {
    return response.hasEvent() && response.getEvent().getRequestId().equals(requestId);
  }

  static LockRequest mutex(String name) {
    return lock(name, LockMode.LOCK_MODE_EXCLUSIVE);
  }

  static LockRequest read(String name) {
    return lock(name, LockMode.LOCK_MODE_READ);
  }

  static LockRequest write(String name) {
    return lock(name, LockMode.LOCK_MODE_WRITE);
  }

  static LockRequest permits(String name, int permits, int limit) {
    return LockRequest.newBuilder()
        .setName(name)
        .setMode(LockMode.LOCK_MODE_PERMITS)
        .setPermits(permits)
        .setLimit(limit)
        .build();
  }

  static LockRequest lock(String name, LockMode mode) {
    return LockRequest.newBuilder().setName(name).setMode(mode).build();
  }

  /** Ends the lease. */
  @Override
  public void close() {
    session.close();
    session.responses().awaitEnd();
  }
}
