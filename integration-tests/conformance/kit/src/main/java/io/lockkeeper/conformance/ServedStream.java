package io.lockkeeper.conformance;

import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.TextFormat;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contended;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.Safe;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.SessionResponseBatch;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * One session stream as a server sees it. What the client sends waits until the script asks for it,
 * except for keep-alives that the script wants answered. Events are numbered by themselves.
 */
final class ServedStream implements StreamObserver<SessionRequest> {

  /** The id and the secret of a lease whose client leaves the secret to the server. */
  private static final String LEASE_ID = "00112233445566778899aabbccddeeff";

  private static final String LEASE_SECRET = "a-secret-that-the-server-chose";

  private final String name;
  private final SocketAddress peer;
  private final ServerCallStreamObserver<SessionResponse> responses;
  private final Transcript transcript;
  private final Mailbox<Received> inbox = new Mailbox<>();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger keepAlives = new AtomicInteger();
  private final AtomicInteger batches = new AtomicInteger();
  private final Map<String, Long> sequences = new HashMap<>();
  private volatile Consumer<Received> onKeepAlive = inbox::add;
  private volatile Consumer<Received> onAcquire = inbox::add;
  private long epoch = 1;
  private boolean ended;

  /** A request of the client; batches are taken apart. */
  record Received(SessionRequest request, long atNanos) {
    /**
     * Returns the moment that many milliseconds later: an upper bound of what the client counts.
     */
    long plusMillis(long millis) {
      return atNanos + TimeUnit.MILLISECONDS.toNanos(millis);
    }
  }

  ServedStream(
      String name,
      SocketAddress peer,
      ServerCallStreamObserver<SessionResponse> responses,
      Transcript transcript) {
    this.name = name;
    this.peer = peer;
    this.responses = responses;
    this.transcript = transcript;
    responses.setOnCancelHandler(() -> inbox.end("the client has cancelled " + name));
  }

  // What the client sends

  /** Takes the first request, which must open the session. */
  Received awaitOpen() {
    Received first = inbox.await("the first request of " + name, any -> true);
    Unmet.unless(first.request().hasOpen(), "the first request is no open: " + first.request());
    return first;
  }

  /** Takes the first request, which must resume the lease of {@code before}. */
  Received awaitResume(Received before) {
    Received resume = awaitOpen();
    OpenSession was = before.request().getOpen();
    OpenSession is = resume.request().getOpen();
    Unmet.unless(
        is.getLeaseId().equals(leaseId(was)) && is.getLeaseSecret().equals(secret(was)),
        "the client does not resume its lease, with its secret, but sends " + text(is));
    return resume;
  }

  /** Takes the request for a lock. */
  AcquireRequest awaitAcquire(String lock) {
    return await("an acquire of " + lock, request -> isFor(lock, request)).request().getAcquire();
  }

  /** Takes the request for a lock; empty if the client leaves the stream without it. */
  Optional<AcquireRequest> awaitAcquireOrEnd(String lock) {
    return inbox
        .awaitOrEnd("an acquire of " + lock + " on " + name, r -> isFor(lock, r.request()))
        .map(received -> received.request().getAcquire());
  }

  private static boolean isFor(String lock, SessionRequest request) {
    return request.hasAcquire() && lock.equals(request.getAcquire().getLocks(0).getName());
  }

  /** Takes the release of an acquisition. */
  ReleaseRequest awaitRelease(AcquireRequest of) {
    return await("a release of " + of.getRequestId(), request -> isRelease(request, of))
        .request()
        .getRelease();
  }

  /** Takes a keep-alive that was not answered by itself. */
  Received awaitKeepAlive() {
    return await("a keep-alive", SessionRequest::hasKeepAlive);
  }

  /** Takes the wish to end the lease. */
  void awaitClose() {
    await("a close", SessionRequest::hasClose);
  }

  /** Takes the first request that fits. */
  Received await(String what, Predicate<SessionRequest> fits) {
    return inbox.await(what + " on " + name, received -> fits.test(received.request()));
  }

  /** Returns whether a request for the lock is there and was not asked for. */
  boolean hasAcquire(AcquireRequest again) {
    return has(
        request ->
            request.hasAcquire()
                && request.getAcquire().getRequestId().equals(again.getRequestId()));
  }

  /** Returns whether a release of it is there and was not asked for. */
  boolean hasRelease(AcquireRequest of) {
    return has(request -> isRelease(request, of));
  }

  /** Returns whether any request for locks, or release, is there and was not asked for. */
  boolean hasAnyWish() {
    return has(request -> request.hasAcquire() || request.hasRelease());
  }

  private boolean has(Predicate<SessionRequest> fits) {
    return inbox.poll(received -> fits.test(received.request())).isPresent();
  }

  private static boolean isRelease(SessionRequest request, AcquireRequest of) {
    return request.hasRelease() && request.getRelease().getRequestId().equals(of.getRequestId());
  }

  /** Waits until the client has given up the stream, or ended its side. */
  void awaitEndByClient() {
    inbox.awaitEnd("the client to leave " + name);
  }

  /** Returns how many requests came so far, of all kinds. */
  int requests() {
    return requests.get();
  }

  /** Returns how many keep-alives came so far. */
  int keepAlives() {
    return keepAlives.get();
  }

  /** Returns how many batches came so far. */
  int batches() {
    return batches.get();
  }

  /** Returns the client's end of the connection. */
  SocketAddress peer() {
    return peer;
  }

  // What the server does by itself

  /** From now on every keep-alive is answered at once, and those that wait already. */
  ServedStream answersKeepAlives(Terms terms) {
    onKeepAlive = received -> keptAlive(received, terms);
    Optional<Received> waiting = pollKeepAlive();
    while (waiting.isPresent()) {
      keptAlive(waiting.get(), terms);
      waiting = pollKeepAlive();
    }
    return this;
  }

  private Optional<Received> pollKeepAlive() {
    return inbox.poll(received -> received.request().hasKeepAlive());
  }

  /** From now on every keep-alive is answered like this. */
  void answersKeepAlivesBy(Consumer<Received> answer) {
    onKeepAlive = answer;
  }

  /** From now on every request for locks is answered like this. */
  void answersAcquiresBy(Consumer<AcquireRequest> answer) {
    onAcquire = received -> answer.accept(received.request().getAcquire());
  }

  /** From now on keep-alives wait for the script. */
  ServedStream isSilent() {
    onKeepAlive = inbox::add;
    return this;
  }

  // What the server sends

  /** What follows is of this epoch; its events are numbered anew. */
  ServedStream epoch(long next) {
    epoch = next;
    sequences.clear();
    return this;
  }

  /** The lease is new. */
  void opened(Received open, Terms terms) {
    respond(SessionResponse.newBuilder().setOpened(newLease(open, terms)));
  }

  /** Begins the answer for a new lease; a secret that the client has chosen is not told. */
  static SessionOpened.Builder newLease(Received open, Terms terms) {
    OpenSession asked = open.request().getOpen();
    SessionOpened.Builder opened = opened(asked, terms, false);
    return asked.getLeaseSecret().isEmpty() ? opened.setLeaseSecret(LEASE_SECRET) : opened;
  }

  /** The lease is resumed. */
  void resumed(Received open, Terms terms) {
    resumed(open, terms, false);
  }

  /** The lease is resumed; batches may be sent from now on, or not. */
  void resumed(Received open, Terms terms, boolean batches) {
    SessionOpened.Builder opened = opened(open.request().getOpen(), terms, true);
    respond(SessionResponse.newBuilder().setOpened(opened.setBatches(batches)));
  }

  private static SessionOpened.Builder opened(OpenSession asked, Terms terms, boolean resumed) {
    return SessionOpened.newBuilder()
        .setLeaseId(leaseId(asked))
        .setLeaseTag(leaseId(asked).substring(0, 16))
        .setTtl(terms.ttl())
        .setValidFor(terms.validFor())
        .setKeepAliveInterval(terms.interval())
        .setCoordinatorId("scripted")
        .setResumed(resumed);
  }

  /** Returns the lease that an open names, or makes: the same secret makes the same lease. */
  static String leaseId(OpenSession open) {
    if (!open.getLeaseId().isEmpty()) {
      return open.getLeaseId();
    }
    byte[] secret = open.getLeaseSecret().getBytes(StandardCharsets.UTF_8);
    return secret.length == 0
        ? LEASE_ID
        : UUID.nameUUIDFromBytes(secret).toString().replace("-", "");
  }

  private static String secret(OpenSession open) {
    return open.getLeaseSecret().isEmpty() ? LEASE_SECRET : open.getLeaseSecret();
  }

  /** Answers a keep-alive. */
  void keptAlive(Received keepAlive, Terms terms) {
    keptAlive(keepAlive.request().getKeepAlive().getNonce(), terms);
  }

  /** Answers the keep-alive of that nonce. */
  void keptAlive(long nonce, Terms terms) {
    respond(
        SessionResponse.newBuilder()
            .setKeptAlive(
                SessionKeptAlive.newBuilder()
                    .setNonce(nonce)
                    .setValidFor(terms.validFor())
                    .setKeepAliveInterval(terms.interval())));
  }

  /** The locks are held; the tokens are {@code token}, {@code token + 1} and so on. */
  void granted(AcquireRequest request, long token) {
    event(request, grantedEvent(request, token));
  }

  static AcquireResponse.Builder grantedEvent(AcquireRequest request, long token) {
    Granted.Builder granted =
        Granted.newBuilder().setValidFor(Terms.CALM.validFor()).setLeaseId(LEASE_ID);
    for (int i = 0; i < request.getLocksCount(); i++) {
      granted.addGrants(
          Grant.newBuilder()
              .setName(request.getLocks(i).getName())
              .setFencingToken(token + i)
              .setHoldCount(1));
    }
    return AcquireResponse.newBuilder().setGranted(granted);
  }

  /** The same when so many wait for each of the locks. */
  void grantedContended(AcquireRequest request, long token, int waiters) {
    AcquireResponse.Builder event = grantedEvent(request, token);
    event.getGrantedBuilder().getGrantsBuilderList().forEach(grant -> grant.setWaiters(waiters));
    event(request, event);
  }

  /** So many wait for the first lock. */
  void contended(AcquireRequest request, int waiters) {
    event(
        request,
        AcquireResponse.newBuilder()
            .setContended(
                Contended.newBuilder().setName(request.getLocks(0).getName()).setWaiters(waiters)));
  }

  void queued(AcquireRequest request) {
    event(request, AcquireResponse.newBuilder().setQueued(Queued.getDefaultInstance()));
  }

  void lost(AcquireRequest request, LossReason reason) {
    event(request, AcquireResponse.newBuilder().setLost(Lost.newBuilder().setReason(reason)));
  }

  void notAcquired(AcquireRequest request, NotAcquiredReason reason) {
    event(
        request,
        AcquireResponse.newBuilder().setNotAcquired(NotAcquired.newBuilder().setReason(reason)));
  }

  void jeopardy(AcquireRequest request, long validForMillis) {
    event(
        request,
        AcquireResponse.newBuilder()
            .setJeopardy(Jeopardy.newBuilder().setValidFor(Terms.toDuration(validForMillis))));
  }

  void safe(AcquireRequest request, long validForMillis) {
    event(request, AcquireResponse.newBuilder().setSafe(safeFor(validForMillis)));
  }

  static Safe.Builder safeFor(long validForMillis) {
    return Safe.newBuilder().setValidFor(Terms.toDuration(validForMillis));
  }

  void released(AcquireRequest request, ReleaseOutcome outcome) {
    respond(
        SessionResponse.newBuilder()
            .setReleased(
                SessionReleased.newBuilder()
                    .setRequestId(request.getRequestId())
                    .setResult(ReleaseResponse.newBuilder().setOutcome(outcome))));
  }

  void goingAway(GoingAwayReason reason, long resumeAfterMillis) {
    respond(
        SessionResponse.newBuilder()
            .setGoingAway(
                GoingAway.newBuilder()
                    .setReason(reason)
                    .setResumeAfter(Terms.toDuration(resumeAfterMillis))));
  }

  void leaseEnded(LeaseEndReason reason) {
    respond(SessionResponse.newBuilder().setLeaseEnded(LeaseEnded.newBuilder().setReason(reason)));
  }

  /** Begins a refusal; a negative delay means that the same request would be refused again. */
  static Refused.Builder refusal(ErrorReason reason, Status.Code code, long retryAfterMillis) {
    Refused.Builder refused =
        Refused.newBuilder()
            .setReason(reason)
            .setCode(code.value())
            .setMessage("as the script says");
    if (retryAfterMillis >= 0) {
      refused.setRetryAfter(Terms.toDuration(retryAfterMillis));
    }
    return refused;
  }

  void refused(Refused.Builder refused) {
    respond(SessionResponse.newBuilder().setRefused(refused));
  }

  /** Sends an event; its number is the next one unless it has one. */
  void event(AcquireRequest about, AcquireResponse.Builder event) {
    respond(SessionResponse.newBuilder().setEvent(numbered(about, event)));
  }

  /** Fills in what every event has. */
  AcquireResponse.Builder numbered(AcquireRequest about, AcquireResponse.Builder event) {
    if (event.getSequence() == 0 && !event.hasPosition()) {
      event.setSequence(sequences.merge(about.getRequestId(), 1L, Long::sum));
    }
    if (event.getEpoch() == 0) {
      event.setEpoch(epoch);
    }
    return event.setRequestId(about.getRequestId());
  }

  /** Sends several responses as one, each of the present epoch unless it has one. */
  void batch(List<SessionResponse.Builder> responses) {
    SessionResponseBatch.Builder batch = SessionResponseBatch.newBuilder();
    responses.forEach(response -> batch.addResponses(withEpoch(response)));
    respond(SessionResponse.newBuilder().setBatch(batch));
  }

  private SessionResponse.Builder withEpoch(SessionResponse.Builder response) {
    return response.getEpoch() == 0 ? response.setEpoch(epoch) : response;
  }

  /** Sends a response, of the present epoch unless it has one. */
  synchronized void respond(SessionResponse.Builder response) {
    withEpoch(response);
    transcript.add(name + " <-", text(response.build()));
    if (!ended && !responses.isCancelled()) {
      responses.onNext(response.build());
    }
  }

  /** Ends the stream: OK. */
  synchronized void end() {
    transcript.add(name + " <-", "OK");
    if (!ended && !responses.isCancelled()) {
      responses.onCompleted();
    }
    ended = true;
  }

  /** Ends the stream with an error. */
  void fail(Status.Code code, String message) {
    fail(code.toStatus().withDescription(message).asRuntimeException());
  }

  /** Ends the stream with an error. */
  synchronized void fail(StatusRuntimeException error) {
    transcript.add(name + " <-", error.getStatus().toString());
    if (!ended && !responses.isCancelled()) {
      responses.onError(error);
    }
    ended = true;
  }

  // gRPC

  @Override
  public void onNext(SessionRequest request) {
    long nowNanos = System.nanoTime();
    transcript.add(name + " ->", text(request));
    if (!request.hasBatch()) {
      onRequest(new Received(request, nowNanos));
      return;
    }
    batches.incrementAndGet();
    request.getBatch().getRequestsList().forEach(r -> onRequest(new Received(r, nowNanos)));
  }

  private void onRequest(Received received) {
    requests.incrementAndGet();
    if (received.request().hasKeepAlive()) {
      keepAlives.incrementAndGet();
      onKeepAlive.accept(received);
    } else if (received.request().hasAcquire()) {
      onAcquire.accept(received);
    } else {
      inbox.add(received);
    }
  }

  @Override
  public void onError(Throwable error) {
    inbox.end("the client has cancelled " + name);
  }

  @Override
  public void onCompleted() {
    transcript.add(name + " ->", "half-closed");
    inbox.end("the client has half-closed " + name);
    end();
  }

  private static String text(MessageOrBuilder message) {
    return TextFormat.printer().emittingSingleLine(true).printToString(message);
  }

  /** Says which stream this is. */
  @Override
  public String toString() {
    return name;
  }
}
