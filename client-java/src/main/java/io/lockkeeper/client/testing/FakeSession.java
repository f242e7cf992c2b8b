package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.MetadataUpdated;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.PositionQuery;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseAnswered;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.SessionWatched;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One session stream of the in-memory server. */
final class FakeSession implements StreamObserver<SessionRequest> {

  private final FakeState state;
  private final FakeNode node;
  private final StreamObserver<SessionResponse> responses;
  private final Map<String, Runnable> watches = new HashMap<>();
  private Optional<FakeLease> lease = Optional.empty();
  private boolean over;

  FakeSession(FakeState state, FakeNode node, StreamObserver<SessionResponse> responses) {
    this.state = state;
    this.node = node;
    this.responses = responses;
  }

  @Override
  public void onNext(SessionRequest request) {
    if (over) {
      return;
    }
    if (lease.isPresent()) {
      serve(lease.get(), request);
      return;
    }
    try {
      if (!request.hasOpen()) {
        throw FakeChecks.invalid("open", "the first request must open or resume");
      }
      open(request.getOpen());
    } catch (StatusRuntimeException e) {
      over = true;
      responses.onError(e);
    }
  }

  private void open(OpenSession open) {
    boolean resumes = !open.getLeaseId().isEmpty();
    FakeLease mine = resumes ? state.lease(open.getLeaseId()) : fresh(open);
    if (resumes && !mine.secret.equals(open.getLeaseSecret())) {
      throw FakeChecks.failure(Status.FAILED_PRECONDITION, "the secret is not the lease's");
    }
    mine.session.ifPresent(FakeSession::supersede);
    mine.session = Optional.of(this);
    lease = Optional.of(mine);
    state.renew(mine);
    send(
        SessionResponse.newBuilder()
            .setOpened(
                SessionOpened.newBuilder()
                    .setLeaseId(mine.id)
                    .setLeaseSecret(resumes ? "" : mine.secret)
                    .setLeaseTag(mine.tag())
                    .setTtl(FakeTime.toProto(mine.ttlNanos))
                    .setValidFor(FakeTime.toProto(mine.ttlNanos))
                    .setResumed(resumes)
                    .setBatches(open.getBatches())));
    List.copyOf(mine.acquisitions.values()).forEach(a -> a.retell(state.loop.nanos()));
  }

  private FakeLease fresh(OpenSession open) {
    String holder = open.getHolder().isEmpty() ? "in-process" : open.getHolder();
    return state.open(node, holder, FakeTime.toNanos(open.getTtl()), false);
  }

  private void serve(FakeLease mine, SessionRequest request) {
    try {
      if (node.overloaded && (request.hasAcquire() || request.hasRelease())) {
        throw FakeChecks.failure(Status.RESOURCE_EXHAUSTED, "overloaded");
      }
      switch (request.getRequestCase()) {
        case KEEP_ALIVE -> keepAlive(mine, request.getKeepAlive().getNonce());
        case ACQUIRE -> acquire(mine, request.getAcquire());
        case RELEASE -> release(mine, request.getRelease());
        case POSITION -> position(mine, request.getPosition());
        case ANSWER_RELEASE -> answerRelease(mine, request.getAnswerRelease());
        case UPDATE_METADATA -> updateMetadata(mine, request.getUpdateMetadata());
        case WATCH -> watch(request.getWatch());
        case UNWATCH -> unwatch(request.getUnwatch().getWatchId());
        case CLOSE -> state.end(mine, LeaseEndReason.LEASE_END_REASON_CLOSED);
        case BATCH -> request.getBatch().getRequestsList().forEach(each -> serveNext(mine, each));
        case OPEN, REQUEST_NOT_SET ->
            throw FakeChecks.invalid("request", "the session is open, and this asks for nothing");
      }
    } catch (StatusRuntimeException e) {
      send(
          SessionResponse.newBuilder()
              .setRefused(
                  Refused.newBuilder()
                      .setId(id(request))
                      .setCode(e.getStatus().getCode().value())
                      .setMessage(String.valueOf(e.getStatus().getDescription()))
                      .setField(FakeChecks.field(e))));
    }
  }

  private void serveNext(FakeLease mine, SessionRequest request) {
    if (!over) { // The one before may have ended the lease.
      serve(mine, request);
    }
  }

  private static String id(SessionRequest request) {
    return switch (request.getRequestCase()) {
      case ACQUIRE -> request.getAcquire().getRequestId();
      case RELEASE -> request.getRelease().getRequestId();
      case POSITION -> request.getPosition().getRequestId();
      case ANSWER_RELEASE -> request.getAnswerRelease().getRequestId();
      case UPDATE_METADATA -> request.getUpdateMetadata().getRequestId();
      case WATCH -> request.getWatch().getWatchId();
      case UNWATCH -> request.getUnwatch().getWatchId();
      case OPEN, KEEP_ALIVE, CLOSE, BATCH, REQUEST_NOT_SET -> "";
    };
  }

  private void keepAlive(FakeLease mine, long nonce) {
    state.renew(mine);
    send(
        SessionResponse.newBuilder()
            .setKeptAlive(
                SessionKeptAlive.newBuilder()
                    .setNonce(nonce)
                    .setValidFor(FakeTime.toProto(mine.ttlNanos))));
  }

  private void acquire(FakeLease mine, AcquireRequest request) {
    if (request.getRequestId().isEmpty()) {
      throw FakeChecks.invalid("request_id", "a session's requests need an id");
    }
    boolean known = mine.acquisitions.containsKey(request.getRequestId());
    FakeAcquisition acquisition = state.turns.acquire(mine, request, request.getRequestId());
    if (known) {
      acquisition.retell(state.loop.nanos());
    } else {
      state.turns.begin(acquisition);
    }
  }

  private void release(FakeLease mine, ReleaseRequest request) {
    send(
        SessionResponse.newBuilder()
            .setReleased(
                SessionReleased.newBuilder()
                    .setRequestId(request.getRequestId())
                    .setResult(state.turns.release(mine, request))));
  }

  private void answerRelease(FakeLease mine, AnswerReleaseRequest request) {
    state.influence.answerRelease(mine, request);
    send(
        SessionResponse.newBuilder()
            .setReleaseAnswered(ReleaseAnswered.newBuilder().setRequestId(request.getRequestId())));
  }

  private void updateMetadata(FakeLease mine, UpdateMetadataRequest request) {
    state.influence.updateMetadata(mine, request);
    send(
        SessionResponse.newBuilder()
            .setMetadataUpdated(MetadataUpdated.newBuilder().setRequestId(request.getRequestId())));
  }

  private void position(FakeLease mine, PositionQuery query) {
    FakeAcquisition waiting = mine.acquisitions.get(query.getRequestId());
    if (waiting == null || waiting.state != FakeAcquisition.State.WAITING) {
      throw FakeChecks.failure(Status.FAILED_PRECONDITION, "the acquisition does not wait");
    }
    state.turns.answerPosition(waiting);
  }

  private void watch(WatchRequest request) {
    String id = request.getWatchId();
    if (id.isEmpty() || watches.containsKey(id)) {
      throw FakeChecks.invalid("watch_id", "must be given, and new");
    }
    watches.put(
        id,
        state.feed.watch(
            request,
            event ->
                send(
                    SessionResponse.newBuilder()
                        .setWatched(SessionWatched.newBuilder().setWatchId(id).setEvent(event)))));
  }

  private void unwatch(String id) {
    Optional.ofNullable(watches.remove(id)).ifPresent(Runnable::run);
  }

  /** Something happened to an acquisition of the lease. */
  void tell(AcquireResponse event) {
    send(SessionResponse.newBuilder().setEvent(event));
  }

  /** Returns whether that server has the stream. */
  boolean isAt(FakeNode server) {
    return node == server;
  }

  /** Tells the client to resume elsewhere. */
  void goAway(Duration resumeAfter) {
    send(
        SessionResponse.newBuilder()
            .setGoingAway(
                GoingAway.newBuilder()
                    .setReason("draining")
                    .setResumeAfter(FakeTime.toProto(resumeAfter.toNanos()))));
    finish();
  }

  /** The lease has ended. */
  void onLeaseEnded(LeaseEndReason reason) {
    send(SessionResponse.newBuilder().setLeaseEnded(LeaseEnded.newBuilder().setReason(reason)));
    finish();
  }

  private void supersede() {
    finish();
  }

  private void finish() {
    if (!over) {
      detach();
      responses.onCompleted();
    }
  }

  private void send(SessionResponse.Builder response) {
    if (!over) {
      responses.onNext(response.build());
    }
  }

  @Override
  public void onError(Throwable failure) {
    detach();
  }

  @Override
  public void onCompleted() {
    finish();
  }

  private void detach() {
    over = true;
    watches.values().forEach(Runnable::run);
    watches.clear();
    lease
        .filter(l -> l.session.filter(this::equals).isPresent())
        .ifPresent(l -> l.session = Optional.empty());
  }
}
