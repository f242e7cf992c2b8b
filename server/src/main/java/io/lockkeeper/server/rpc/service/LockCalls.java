package io.lockkeeper.server.rpc.service;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Coordinator.LockPage;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.RequestWeights;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.call.TraceHeader;
import io.lockkeeper.server.rpc.wire.AcquireRequests;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.PastHolds;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.rpc.wire.RevocationRequests;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.AnswerReleaseResponse;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CheckTokenResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import io.lockkeeper.v1.GetHistoryRequest;
import io.lockkeeper.v1.GetHistoryResponse;
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
import io.lockkeeper.v1.WhoAmIRequest;
import io.lockkeeper.v1.WhoAmIResponse;
import java.util.Map;
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
    boolean keeps = RequestWeights.keeps(request) && !request.getLeaseId().isEmpty();
    Access access = keeps ? Access.current() : Access.requesting(RequestWeights.of(request));
    AcquireCommand command = AcquireRequests.toCommand(request, access.peer());
    access.requireToAcquire(command, command.lease().isPresent());
    new AcquireStream(streamOf(responses), limits, streams, coordinatorId, access)
        .start(coordinator.by(access.caller()), TraceHeader.addTo(command));
  }

  @Override
  public void watch(WatchRequest request, StreamObserver<WatchResponse> responses) {
    Access access = Access.requesting(RequestWeights.of(request));
    WatchFilter filter = RequestReader.toFilter(request);
    filter.names().forEach(lock -> access.require(Right.WATCH, lock));
    new WatchStream(streamOf(responses), limits, streams, access)
        .start(coordinator, filter, request.getStartRevision());
  }

  @Override
  public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> responses) {
    Access access = Access.current();
    SessionStream session =
        new SessionStream(
            coordinator.by(access.caller()),
            coordinatorId,
            streamOf(responses),
            limits,
            streams,
            timer,
            stats,
            access);
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
        coordinator
            .by(Access.current().caller())
            .release(lease, wanted.requestId(), wanted.token()),
        Messages::toReleaseResponse,
        responses);
  }

  @Override
  public void getLock(GetLockRequest request, StreamObserver<GetLockResponse> responses) {
    RequestReader.LockQuery query = RequestReader.toQuery(request);
    Access.requesting(RequestWeights.ofQueue(query.queueLimit())).require(Right.READ, query.lock());
    Answers.unary(
        coordinator.getLock(query.lock(), query.queueLimit()),
        lock -> GetLockResponse.newBuilder().setLock(Messages.toLockState(lock)).build(),
        responses);
  }

  @Override
  public void getHistory(GetHistoryRequest request, StreamObserver<GetHistoryResponse> responses) {
    RequestReader.HistoryQuery query = RequestReader.toQuery(request);
    Access.requesting(RequestWeights.ofQueue(query.limit())).require(Right.READ, query.lock());
    Answers.unary(
        coordinator.history(query.lock(), query.limit()),
        history -> PastHolds.toResponse(history, coordinatorId),
        responses);
  }

  @Override
  public void listLocks(ListLocksRequest request, StreamObserver<ListLocksResponse> responses) {
    RequestReader.LockPage page = RequestReader.toPage(request);
    Answers.unary(
        coordinator.listLocks(
            page.prefix(),
            page.after(),
            page.limit(),
            Access.requesting(RequestWeights.ofList(page.limit())).readable()),
        LockCalls::toPage,
        responses);
  }

  /** A page that grows too large for clients ends early. */
  private static ListLocksResponse toPage(LockPage page) {
    ListLocksResponse.Builder response = ListLocksResponse.newBuilder();
    page.last().ifPresent(last -> response.setNextPageToken(Fields.toPageToken(last.value())));
    int bytes = 0;
    for (LockView view : page.locks()) {
      LockState lock = Messages.toLockState(view).toBuilder().clearQueue().build();
      bytes += lock.getSerializedSize();
      int count = response.getLocksCount();
      if (count > 0 && bytes > MAX_PAGE_BYTES) {
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
    Access.requesting().require(Right.READ, query.lock());
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
    Access access = Access.current();
    RevocationRequests.Wish wish =
        access.auditedRequest(() -> RevocationRequests.toWish(request, access.who()));
    Map<String, String> details = Map.of("lock", wish.lock().value(), "reason", wish.reason());
    access.requireAuditedRate(details);
    access.require(Right.REQUEST_RELEASE, wish.lock());
    Answers.unary(
        access.audited(
            details,
            coordinator.requestRelease(
                wish.lock(), wish.requester(), wish.reason(), wish.deadline())),
        asked -> Messages.toAsked(asked, access.permits(Right.READ, wish.lock())),
        responses);
  }

  @Override
  public void answerRelease(
      AnswerReleaseRequest request, StreamObserver<AnswerReleaseResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    RevocationRequests.HolderReply reply = RevocationRequests.toReply(request);
    Answers.unary(
        coordinator
            .by(Access.current().caller())
            .answerRelease(lease, reply.requestId(), reply.needs()),
        taken -> AnswerReleaseResponse.getDefaultInstance(),
        responses);
  }

  @Override
  public void updateMetadata(
      UpdateMetadataRequest request, StreamObserver<UpdateMetadataResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    RequestReader.Description wanted = RequestReader.toDescription(request);
    Access access = Access.requesting(RequestWeights.described(wanted.metadata()));
    access.requireDescribable(wanted.metadata());
    Answers.unary(
        coordinator
            .by(access.caller())
            .updateMetadata(lease, wanted.requestId(), wanted.metadata()),
        updated -> UpdateMetadataResponse.getDefaultInstance(),
        responses);
  }

  @Override
  public void configureLock(
      ConfigureLockRequest request, StreamObserver<ConfigureLockResponse> responses) {
    Access access = Access.current();
    RequestReader.LimitChange wanted = access.auditedRequest(() -> RequestReader.toLimit(request));
    String limit = wanted.limit().isPresent() ? String.valueOf(wanted.limit().getAsInt()) : "none";
    Map<String, String> details = Map.of("lock", wanted.lock().value(), "limit", limit);
    access.requireAuditedRate(details);
    access.require(Right.CONFIGURE, wanted.lock());
    Answers.unary(
        access.audited(
            details, coordinator.by(access.caller()).configureLock(wanted.lock(), wanted.limit())),
        set -> ConfigureLockResponse.newBuilder().setPreviousLimit(set.previous()).build(),
        responses);
  }

  @Override
  public void whoAmI(WhoAmIRequest request, StreamObserver<WhoAmIResponse> responses) {
    RequestReader.Scope scope = RequestReader.toScope(request);
    responses.onNext(CallerMessages.toResponse(Access.requesting(), scope, coordinatorId));
    responses.onCompleted();
  }
}
