package io.lockkeeper.server.rpc.service;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Coordinator.OpenedLease;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.RequestWeights;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.CloseLeaseResponse;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.GetLeaseResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLeasesResponse;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import java.util.List;

/**
 * The lease service: each method checks, asks the coordinator and translates. What it throws,
 * {@link CallGuard} maps.
 */
public final class LeaseCalls extends LeaseServiceGrpc.LeaseServiceImplBase {

  private static final int MAX_ACQUISITIONS = 1_000;

  private final Coordinator coordinator;
  private final String coordinatorId;
  private final GrpcLimits limits;

  public LeaseCalls(Coordinator coordinator, String coordinatorId, GrpcLimits limits) {
    this.coordinator = coordinator;
    this.coordinatorId = coordinatorId;
    this.limits = limits;
  }

  @Override
  public void openLease(OpenLeaseRequest request, StreamObserver<OpenLeaseResponse> responses) {
    Access access = Access.requesting(RequestWeights.OPEN_LEASE);
    RequestReader.NewLease wanted =
        RequestReader.toNewLease(request, limits.defaultTtl(), access.peer());
    access.requireTtl(wanted.ttl());
    Answers.unary(
        coordinator.by(access.caller()).openLease(wanted.ttl(), wanted.holder(), wanted.secret()),
        opened -> toResponse(opened, wanted.secret().isPresent()),
        responses);
  }

  private OpenLeaseResponse toResponse(OpenedLease opened, boolean chosen) {
    return OpenLeaseResponse.newBuilder()
        .setLeaseId(opened.lease().lease().toString())
        .setLeaseSecret(chosen ? "" : opened.secret())
        .setLeaseTag(opened.lease().lease().tag())
        .setTtl(ProtoDurations.ofNanos(opened.lease().ttlNanos()))
        .setValidFor(ProtoDurations.ofNanos(opened.lease().validForNanos()))
        .setKeepAliveInterval(Messages.keepAliveInterval(opened.lease().validForNanos()))
        .setEpoch(opened.lease().epoch())
        .setCoordinatorId(coordinatorId)
        .build();
  }

  @Override
  public void renewLease(RenewLeaseRequest request, StreamObserver<RenewLeaseResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    Answers.unary(
        coordinator.by(Access.current().caller()).keepAlive(lease), this::toRenewed, responses);
  }

  private RenewLeaseResponse toRenewed(Answer answer) {
    if (answer instanceof Answer.LeaseRenewed renewed) {
      return RenewLeaseResponse.newBuilder()
          .setValidFor(ProtoDurations.ofNanos(renewed.validForNanos()))
          .setKeepAliveInterval(Messages.keepAliveInterval(renewed.validForNanos()))
          .setEpoch(renewed.epoch())
          .setCoordinatorId(coordinatorId)
          .build();
    }
    throw new RefusedException(new Failure(Failure.Reason.UNKNOWN_LEASE, endInWords(answer)));
  }

  private static String endInWords(Answer answer) {
    if (answer instanceof Answer.LeaseGone gone) {
      return switch (gone.end()) {
        case EXPIRED -> "the lease has ended: it was not renewed in time";
        case CLOSED -> "the lease has ended: it was closed";
        case CANCELLED -> "the lease has ended: its call was cancelled";
        case BROKEN -> "the lease has ended: its call has broken off";
        case COORDINATOR_LEFT -> "the lease has ended: its coordinator left, and its call with it";
        case SESSION_LOST ->
            "the lease has ended: the coordinator's ZooKeeper session was lost, or not proved alive";
        case FORCED -> "the lease has ended: an operator closed it";
      };
    }
    throw new IllegalStateException("no answer to a renewal: " + answer.getClass());
  }

  @Override
  public void closeLease(CloseLeaseRequest request, StreamObserver<CloseLeaseResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    Answers.unary(
        coordinator.by(Access.current().caller()).closeLease(lease),
        closed -> CloseLeaseResponse.newBuilder().setAlreadyEnded(closed.already()).build(),
        responses);
  }

  @Override
  public void getLease(GetLeaseRequest request, StreamObserver<GetLeaseResponse> responses) {
    LeaseId lease = Fields.leaseId("lease_id", request.getLeaseId());
    Answers.unary(
        coordinator.by(looking(1)).getLease(lease, MAX_ACQUISITIONS),
        view -> GetLeaseResponse.newBuilder().setLease(Messages.toLeaseState(view)).build(),
        responses);
  }

  @Override
  public void listLeases(ListLeasesRequest request, StreamObserver<ListLeasesResponse> responses) {
    RequestReader.LeasePage page = RequestReader.toPage(request);
    // One more than shown tells whether another page follows.
    Answers.unary(
        coordinator
            .by(looking(RequestWeights.ofList(page.limit())))
            .listLeases(page.afterTag(), page.limit() + 1),
        leases -> toPage(leases, page.limit()),
        responses);
  }

  /** Returns as whom the current caller looks at leases: an operator sees everybody's. */
  private static Caller looking(int weight) {
    Access access = Access.requesting(weight);
    return access.permitsAll(Right.ADMIN, "") ? access.operator() : access.caller();
  }

  private static ListLeasesResponse toPage(List<LeaseView> leases, int limit) {
    ListLeasesResponse.Builder response = ListLeasesResponse.newBuilder();
    leases.stream()
        .limit(limit)
        .map(Messages::toLeaseState)
        .map(lease -> lease.toBuilder().clearAcquisitions().build())
        .forEach(response::addLeases);
    if (leases.size() > limit) {
      response.setNextPageToken(Fields.toPageToken(leases.get(limit - 1).tag()));
    }
    return response.build();
  }
}
