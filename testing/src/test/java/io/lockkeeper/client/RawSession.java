package io.lockkeeper.client;

import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** A session stream without a client that would do something by itself. */
final class RawSession implements StreamObserver<SessionResponse> {

  private final List<SessionResponse> responses = new CopyOnWriteArrayList<>();
  private final StreamObserver<SessionRequest> requests;
  private volatile Optional<Status> end = Optional.empty();

  private RawSession(ManagedChannel channel, OpenSession open) {
    requests = LockServiceGrpc.newStub(channel).session(this);
    requests.onNext(SessionRequest.newBuilder().setOpen(open).build());
  }

  static RawSession open(ManagedChannel channel) {
    return new RawSession(channel, OpenSession.getDefaultInstance());
  }

  static RawSession resume(ManagedChannel channel, SessionOpened lease) {
    return new RawSession(
        channel,
        OpenSession.newBuilder()
            .setLeaseId(lease.getLeaseId())
            .setLeaseSecret(lease.getLeaseSecret())
            .build());
  }

  SessionOpened opened() {
    await().until(() -> !responses.isEmpty());
    return responses.get(0).getOpened();
  }

  void acquire(AcquireRequest.Builder request) {
    requests.onNext(SessionRequest.newBuilder().setAcquire(request).build());
  }

  /** Releases, and returns the answer. */
  ReleaseResponse release(String requestId) {
    long before = releases(requestId).size();
    requests.onNext(SessionRequests.release(requestId, 0));
    await().until(() -> releases(requestId).size() > before);
    return releases(requestId).get((int) before);
  }

  private List<ReleaseResponse> releases(String requestId) {
    return responses.stream()
        .filter(r -> r.hasReleased() && r.getReleased().getRequestId().equals(requestId))
        .map(r -> r.getReleased().getResult())
        .toList();
  }

  /** Returns the events of one acquisition, when there are so many. */
  List<AcquireResponse> events(String requestId, int count) {
    await().until(() -> events(requestId).size() >= count);
    return events(requestId);
  }

  private List<AcquireResponse> events(String requestId) {
    return responses.stream()
        .filter(r -> r.hasEvent() && r.getEvent().getRequestId().equals(requestId))
        .map(SessionResponse::getEvent)
        .toList();
  }

  /** Waits until the server has ended the stream. */
  void awaitEnd() {
    await().until(() -> end.isPresent());
  }

  /** Returns whether the server has told something else than answers. */
  boolean wasSentAway() {
    return responses.stream().anyMatch(SessionResponse::hasGoingAway);
  }

  void close() {
    requests.onNext(SessionRequests.close());
    awaitEnd();
  }

  @Override
  public void onNext(SessionResponse response) {
    responses.add(response);
  }

  @Override
  public void onError(Throwable failure) {
    end = Optional.of(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    end = Optional.of(Status.OK);
  }
}
