package io.lockkeeper.client.testing;

import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.AnswerReleaseResponse;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CheckTokenResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.UpdateMetadataResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** The lock service of the in-memory server. Its executor is the server's loop. */
final class FakeLockService extends LockServiceGrpc.LockServiceImplBase {

  private static final int DEFAULT_PAGE = 100;
  private static final int MAX_TOKENS = 16;

  private final FakeState state;
  private final FakeNode node;

  FakeLockService(FakeState state, FakeNode node) {
    this.state = state;
    this.node = node;
  }

  /** Answers a unary call. */
  static <T> void answer(StreamObserver<T> responses, Supplier<T> answer) {
    try {
      responses.onNext(answer.get());
      responses.onCompleted();
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  @Override
  public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> responses) {
    return new FakeSession(state, node, responses);
  }

  @Override
  public void acquire(AcquireRequest request, StreamObserver<AcquireResponse> responses) {
    try {
      FakeChecks.acquire(request);
      boolean streamBound = request.getLeaseId().isEmpty();
      FakeLease lease =
          streamBound ? state.open(node, "in-process", 0, true) : state.lease(request.getLeaseId());
      String id =
          request.getRequestId().isEmpty() ? UUID.randomUUID().toString() : request.getRequestId();
      boolean known = lease.acquisitions.containsKey(id);
      FakeAcquisition acquisition = state.turns.acquire(lease, request, id);
      FakeCall call = new FakeCall(responses);
      acquisition.attach(call);
      ((ServerCallStreamObserver<AcquireResponse>) responses)
          .setOnCancelHandler(() -> state.turns.onHangUp(acquisition, call));
      if (known) {
        acquisition.retell(state.loop.nanos());
      } else {
        state.turns.begin(acquisition);
      }
    } catch (StatusRuntimeException e) {
      responses.onError(e);
    }
  }

  @Override
  public void release(ReleaseRequest request, StreamObserver<ReleaseResponse> responses) {
    answer(
        responses,
        () -> {
          FakeLease lease = state.lease(request.getLeaseId());
          return state.turns.release(lease, request);
        });
  }

  @Override
  public void watch(WatchRequest request, StreamObserver<WatchResponse> responses) {
    Runnable end = state.feed.watch(request, responses::onNext);
    ((ServerCallStreamObserver<WatchResponse>) responses).setOnCancelHandler(end);
  }

  @Override
  public void getLock(GetLockRequest request, StreamObserver<GetLockResponse> responses) {
    answer(
        responses,
        () -> {
          FakeChecks.name("name", request.getName());
          int limit = request.getQueueLimit() == 0 ? DEFAULT_PAGE : request.getQueueLimit();
          return GetLockResponse.newBuilder()
              .setLock(state.feed.view(state.look(request.getName()), limit))
              .build();
        });
  }

  @Override
  public void listLocks(ListLocksRequest request, StreamObserver<ListLocksResponse> responses) {
    answer(responses, () -> page(request));
  }

  private ListLocksResponse page(ListLocksRequest request) {
    int size = request.getPageSize() == 0 ? DEFAULT_PAGE : request.getPageSize();
    List<FakeQueue> queues =
        state.inUse(request.getPageToken()).stream()
            .filter(queue -> queue.lock.startsWith(request.getPrefix()))
            .limit(size + 1L)
            .toList();
    ListLocksResponse.Builder page = ListLocksResponse.newBuilder();
    queues.stream().limit(size).forEach(queue -> page.addLocks(state.feed.view(queue, 0)));
    return page.setNextPageToken(queues.size() > size ? queues.get(size - 1).lock : "").build();
  }

  @Override
  public void checkToken(CheckTokenRequest request, StreamObserver<CheckTokenResponse> responses) {
    answer(
        responses,
        () -> {
          FakeChecks.name("name", request.getName());
          if (request.getFencingToken() <= 0) {
            throw FakeChecks.invalid("fencing_token", "must be above zero");
          }
          List<Long> tokens =
              state.look(request.getName()).holders().stream().map(e -> e.token).toList();
          return CheckTokenResponse.newBuilder()
              .setCurrent(tokens.contains(request.getFencingToken()))
              .addAllCurrentTokens(tokens.stream().distinct().limit(MAX_TOKENS).toList())
              .build();
        });
  }

  @Override
  public void requestRelease(
      RequestReleaseRequest request, StreamObserver<RequestReleaseResponse> responses) {
    answer(responses, () -> state.influence.requestRelease(request));
  }

  @Override
  public void answerRelease(
      AnswerReleaseRequest request, StreamObserver<AnswerReleaseResponse> responses) {
    answer(
        responses,
        () -> {
          state.influence.answerRelease(state.lease(request.getLeaseId()), request);
          return AnswerReleaseResponse.getDefaultInstance();
        });
  }

  @Override
  public void updateMetadata(
      UpdateMetadataRequest request, StreamObserver<UpdateMetadataResponse> responses) {
    answer(
        responses,
        () -> {
          state.influence.updateMetadata(state.lease(request.getLeaseId()), request);
          return UpdateMetadataResponse.getDefaultInstance();
        });
  }

  @Override
  public void configureLock(
      ConfigureLockRequest request, StreamObserver<ConfigureLockResponse> responses) {
    answer(responses, () -> state.influence.configure(request));
  }
}
