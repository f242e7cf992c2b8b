package io.lockkeeper.server.rpc.service;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.wire.AdminRequests;
import io.lockkeeper.server.rpc.wire.ClusterMessages;
import io.lockkeeper.server.rpc.wire.RevocationRequests;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceCloseLeaseResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.DrainResponse;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.FreezeResponse;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.GetClusterResponse;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UnfreezeResponse;
import java.time.Duration;
import java.util.Map;

/** The admin service: each method checks, asks the coordinator and translates. */
public final class AdminCalls extends AdminServiceGrpc.AdminServiceImplBase {

  private final Coordinator coordinator;
  private final String coordinatorId;
  private final Surroundings surroundings;

  /** What the calls need of the endpoint that they are served by. */
  public interface Surroundings {

    /** Returns whether a peer can renew leases, as far as is known. */
    boolean serves(String peerId);

    /** Returns how many peers there are. */
    int peers();

    /** Tells those who look at health that nothing more should come here. Idempotent. */
    void stopAccepting();

    /** Tells those whose streams are open to come again elsewhere. */
    void sendAway();
  }

  public AdminCalls(Coordinator coordinator, String coordinatorId, Surroundings surroundings) {
    this.coordinator = coordinator;
    this.coordinatorId = coordinatorId;
    this.surroundings = surroundings;
  }

  @Override
  public void forceRelease(
      ForceReleaseRequest request, StreamObserver<ForceReleaseResponse> responses) {
    Access access = Access.current();
    RevocationRequests.Force wanted =
        access.auditedRequest(() -> RevocationRequests.toForce(request));
    Map<String, String> details = Map.of("lock", wanted.lock().value(), "reason", wanted.reason());
    access.requireAuditedRate(details);
    access.require(Right.RELEASE_OTHERS, wanted.lock());
    Answers.unary(
        access.audited(
            details,
            coordinator
                .by(access.caller())
                .forceRelease(
                    wanted.lock(), wanted.token(), access.who(), wanted.reason(), wanted.grace())),
        forced ->
            ForceReleaseResponse.newBuilder()
                .setReleased(forced.released())
                .setAsked(forced.asked())
                .setDelaysEnded(forced.delaysEnded())
                .build(),
        responses);
  }

  @Override
  public void closeLease(
      AdminServiceCloseLeaseRequest request,
      StreamObserver<AdminServiceCloseLeaseResponse> responses) {
    Access access = Access.current();
    AdminRequests.LeaseClosing wanted =
        access.auditedRequest(() -> AdminRequests.toClosing(request));
    Map<String, String> details = Map.of("lease", wanted.lease().tag(), "reason", wanted.reason());
    access.requireAuditedRate(details);
    access.requireAll(Right.ADMIN, "");
    Answers.unary(
        access.audited(details, coordinator.forceCloseLease(wanted.lease(), wanted.reason())),
        closed ->
            AdminServiceCloseLeaseResponse.newBuilder().setAlreadyEnded(closed.already()).build(),
        responses);
  }

  @Override
  public void freeze(FreezeRequest request, StreamObserver<FreezeResponse> responses) {
    Access access = Access.current();
    Freeze wanted = access.auditedRequest(() -> AdminRequests.toFreeze(request, access.who()));
    Map<String, String> details = Map.of("prefix", wanted.prefix(), "reason", wanted.reason());
    access.requireAuditedRate(details);
    access.requireAll(Right.ADMIN, wanted.prefix());
    Answers.unary(
        access.audited(details, coordinator.by(access.caller()).freeze(wanted)),
        done -> FreezeResponse.getDefaultInstance(),
        responses);
  }

  @Override
  public void unfreeze(UnfreezeRequest request, StreamObserver<UnfreezeResponse> responses) {
    Access access = Access.current();
    String prefix = access.auditedRequest(() -> AdminRequests.toPrefix(request));
    Map<String, String> details = Map.of("prefix", prefix);
    access.requireAuditedRate(details);
    access.requireAll(Right.ADMIN, prefix);
    Answers.unary(
        access.audited(details, coordinator.unfreeze(prefix)),
        done -> UnfreezeResponse.getDefaultInstance(),
        responses);
  }

  @Override
  public void drain(DrainRequest request, StreamObserver<DrainResponse> responses) {
    Access access = Access.current();
    Duration grace = access.auditedRequest(() -> AdminRequests.toGrace(request));
    Map<String, String> details = Map.of("grace", grace.toString());
    access.requireAuditedRate(details);
    access.requireAll(Right.ADMIN, "");
    surroundings.stopAccepting();
    Answers.unary(
        access
            .audited(details, coordinator.drain(grace))
            .whenComplete((left, refused) -> surroundings.sendAway()),
        left ->
            DrainResponse.newBuilder().setLeasesLeft(left).setPeers(surroundings.peers()).build(),
        responses);
  }

  @Override
  public void getCluster(GetClusterRequest request, StreamObserver<GetClusterResponse> responses) {
    Access access = Access.current();
    access.requireAuditedRate(Map.of());
    access.requireAll(Right.ADMIN, "");
    Answers.unary(
        access.audited(Map.of(), coordinator.cluster()),
        view -> ClusterMessages.toResponse(view, coordinatorId, surroundings::serves),
        responses);
  }
}
