package io.lockkeeper.server.rpc.service;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.wire.AcquireRequests;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.rpc.wire.RevocationRequests;
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
import io.lockkeeper.v1.LockState;
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
import java.util.concurrent.ScheduledExecutorService;

/**
 * The lock service: each method checks, asks the coordinator and translates. What it throws, {@link
 * CallGuard} maps.
 */
public final class LockCalls extends LockServiceGrpc.LockServiceImplBase {

  private static final int MAX_PAGE_BYTES = 2 * 1024 * 1024;

  private final Coordinator coordinator;
  private final String coordinatorId;
  private final GrpcLimits limits;
  private final OpenStreams streams;
  private final ScheduledExecutorService timer;
  private final RpcStats stats;

  public LockCalls(
      Coordinator coordinator,
      String coordinatorId,
      GrpcLimits limits,
      OpenStreams streams,
      ScheduledExecutorService timer,
      RpcStats stats) {
    this.stats = stats;
    this.coordinatorId = coordinatorId;
    this.coordinator = coordinator;
    this.limits = limits;
    this.streams = streams;
    this.timer = timer;
  }

  @Override
  public void acquire(AcquireRequest request, StreamObserver<AcquireResponse> responses) {
    AcquireCommand command = AcquireRequests.toCommand(request, CallGuard.peer());
    new AcquireStream(streamOf(responses), limits, streams, coordinatorId)
        .start(coordinator, command);
  }

  @Override
  public void watch(WatchRequest request, StreamObserver<WatchResponse> responses) {
    WatchFilter filter = RequestReader.toFilter(request);
    new WatchStream(streamOf(responses), limits, streams)
        .start(coordinator, filter, request.getStartRevision());
  }

  @Override
  public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> responses) {
    SessionStream session =
        new SessionStream(
            coordinator,
            coordinatorId,
            streamOf(responses),
            limits,
            streams,
            timer,
            stats.sentAway,
            CallGuard.peer());
    session.start();
    return session;
  }

  private static <T> ServerCallStreamObserver<T> streamOf(StreamObserver<T> responses) {
    return (ServerCallStreamObserver<T>) responses;
  }

  @Override
  public void release(ReleaseRequest request, StreamObserver<ReleaseResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    RequestReader.NamedRelease wanted = RequestReader.toRelease(request);
    Answers.unary(
        coordinator.release(lease, wanted.requestId(), wanted.token()),
        Messages::toReleaseResponse,
        responses);
  }

  @Override
  public void getLock(GetLockRequest request, StreamObserver<GetLockResponse> responses) {
    RequestReader.LockQuery query = RequestReader.toQuery(request);
    Answers.unary(
        coordinator.getLock(query.lock(), query.queueLimit()),
        lock -> GetLockResponse.newBuilder().setLock(Messages.toLockState(lock)).build(),
        responses);
  }

  @Override
  public void listLocks(ListLocksRequest request, StreamObserver<ListLocksResponse> responses) {
    RequestReader.LockPage page = RequestReader.toPage(request);
    // One more than shown tells whether another page follows.
    Answers.unary(
        coordinator.listLocks(page.prefix(), page.after(), page.limit() + 1),
        locks -> toPage(locks, page.limit()),
        responses);
  }

  /** A page that grows too large for clients ends early. */
  private static ListLocksResponse toPage(List<LockView> locks, int limit) {
    ListLocksResponse.Builder response = ListLocksResponse.newBuilder();
    int bytes = 0;
    for (LockView view : locks) {
      LockState lock = Messages.toLockState(view).toBuilder().clearQueue().build();
      bytes += lock.getSerializedSize();
      int count = response.getLocksCount();
      if (count == limit || (count > 0 && bytes > MAX_PAGE_BYTES)) {
        response.setNextPageToken(Fields.toPageToken(response.getLocks(count - 1).getName()));
        break;
      }
      response.addLocks(lock);
    }
    return response.build();
  }

  @Override
  public void checkToken(CheckTokenRequest request, StreamObserver<CheckTokenResponse> responses) {
    RequestReader.TokenQuery query = RequestReader.toQuery(request);
    Answers.unary(
        coordinator.checkToken(query.lock(), query.token()),
        check ->
            CheckTokenResponse.newBuilder()
                .setCurrent(check.current())
                .addAllCurrentTokens(check.currentTokens())
                .build(),
        responses);
  }

  @Override
  public void requestRelease(
      RequestReleaseRequest request, StreamObserver<RequestReleaseResponse> responses) {
    RevocationRequests.Wish wish = RevocationRequests.toWish(request, CallGuard.peer());
    Answers.unary(
        coordinator.requestRelease(wish.lock(), wish.requester(), wish.reason(), wish.deadline()),
        Messages::toAsked,
        responses);
  }

  @Override
  public void answerRelease(
      AnswerReleaseRequest request, StreamObserver<AnswerReleaseResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    RevocationRequests.HolderReply reply = RevocationRequests.toReply(request);
    Answers.unary(
        coordinator.answerRelease(lease, reply.requestId(), reply.needs()),
        taken -> AnswerReleaseResponse.getDefaultInstance(),
        responses);
  }

  @Override
  public void updateMetadata(
      UpdateMetadataRequest request, StreamObserver<UpdateMetadataResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    RequestReader.Description wanted = RequestReader.toDescription(request);
    Answers.unary(
        coordinator.updateMetadata(lease, wanted.requestId(), wanted.metadata()),
        updated -> UpdateMetadataResponse.getDefaultInstance(),
        responses);
  }

  @Override
  public void configureLock(
      ConfigureLockRequest request, StreamObserver<ConfigureLockResponse> responses) {
    RequestReader.LimitChange wanted = RequestReader.toLimit(request);
    Answers.unary(
        coordinator.configureLock(wanted.lock(), wanted.limit()),
        set -> ConfigureLockResponse.newBuilder().setPreviousLimit(set.previous()).build(),
        responses);
  }
}
