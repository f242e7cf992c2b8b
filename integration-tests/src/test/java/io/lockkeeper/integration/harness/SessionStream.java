package io.lockkeeper.integration.harness;

import com.google.protobuf.util.Durations;
import io.grpc.Channel;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.integration.harness.Timed.Arrival;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.function.Predicate;

/** One {@code Session} call on the bare stub, which renews nothing by itself. */
public final class SessionStream {

  private final Timed<SessionRequest, SessionResponse> responses = new Timed<>();
  private final StreamObserver<SessionRequest> requests;

  private SessionStream(Channel channel, OpenSession open) {
    requests = LockServiceGrpc.newStub(channel).session(responses);
    requests.onNext(SessionRequest.newBuilder().setOpen(open).build());
  }

  /** Opens a new lease. */
  public static SessionStream open(Channel channel, Duration ttl) {
    return with(
        channel, OpenSession.newBuilder().setTtl(Durations.fromNanos(ttl.toNanos())).build());
  }

  /** Opens or resumes. */
  public static SessionStream with(Channel channel, OpenSession open) {
    return new SessionStream(channel, open);
  }

  /** Opens a second stream that resumes the lease of this one. */
  public SessionStream resume(Channel channel) {
    SessionOpened opened = awaitOpened();
    return with(
        channel,
        OpenSession.newBuilder()
            .setLeaseId(opened.getLeaseId())
            .setLeaseSecret(opened.getLeaseSecret())
            .build());
  }

  /** Returns everything that came. */
  public Timed<SessionRequest, SessionResponse> responses() {
    return responses;
  }

  /** Waits until the lease is open. */
  public SessionOpened awaitOpened() {
    return await("opened", SessionResponse::hasOpened).value().getOpened();
  }

  /** Waits for a response. */
  public Arrival<SessionResponse> await(String what, Predicate<SessionResponse> wanted) {
    return responses.await(what, wanted);
  }

  /** Waits for an event of an acquisition. */
  public Arrival<SessionResponse> await(String requestId, EventCase wanted) {
    return await(
        wanted + " of " + requestId,
        response ->
            response.hasEvent()
                && response.getEvent().getRequestId().equals(requestId)
                && response.getEvent().getEventCase() == wanted);
  }

  /** Waits for the grant of one lock and returns its token. */
  public long awaitToken(String requestId) {
    AcquireResponse granted = await(requestId, EventCase.GRANTED).value().getEvent();
    return granted.getGranted().getGrants(0).getFencingToken();
  }

  /** Asks for a lock, waiting as long as the lease lives. */
  public void acquire(String lock, String requestId) {
    acquire(Asking.request(lock).setRequestId(requestId).build());
  }

  /** Asks for a lock. */
  public void acquire(AcquireRequest request) {
    send(SessionRequest.newBuilder().setAcquire(request).build());
  }

  /** Releases or withdraws. */
  public void release(String requestId) {
    send(
        SessionRequest.newBuilder()
            .setRelease(ReleaseRequest.newBuilder().setRequestId(requestId))
            .build());
  }

  /** Renews the lease; the answer carries the nonce. */
  public void keepAlive(long nonce) {
    send(
        SessionRequest.newBuilder()
            .setKeepAlive(SessionKeepAlive.newBuilder().setNonce(nonce))
            .build());
  }

  /** Renews the lease and waits for the answer. */
  public SessionResponse keepAliveAnswered(long nonce) {
    keepAlive(nonce);
    return await(
            "answer to keep-alive " + nonce,
            response -> response.hasKeptAlive() && response.getKeptAlive().getNonce() == nonce)
        .value();
  }

  /** Ends the lease at once. */
  public void close() {
    send(SessionRequest.newBuilder().setClose(CloseSession.getDefaultInstance()).build());
  }

  /** Hangs up without a word; the lease lives on. */
  public void hangUp() {
    responses.cancel();
  }

  /** Sends anything; may be called by several threads, which a call itself does not bear. */
  public synchronized void send(SessionRequest request) {
    requests.onNext(request);
  }
}
