package io.lockkeeper.server.rpc.service;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.wire.NotOfferedException;
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
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UnfreezeResponse;
import java.util.Map;

/** The admin service. A call that this server does not offer says what it cannot do. */
public final class AdminCalls extends AdminServiceGrpc.AdminServiceImplBase {

  private final Coordinator coordinator;

  public AdminCalls(Coordinator coordinator) {
    this.coordinator = coordinator;
  }

  @Override
  public void forceRelease(
      ForceReleaseRequest request, StreamObserver<ForceReleaseResponse> responses) {
    Access access = Access.current();
    RevocationRequests.Force wanted = RevocationRequests.toForce(request);
    access.require(Right.RELEASE_OTHERS, wanted.lock());
    Answers.unary(
        access.audited(
            Map.of("lock", wanted.lock().value(), "reason", wanted.reason()),
            coordinator.forceRelease(
                wanted.lock(), wanted.token(), access.peer(), wanted.reason(), wanted.grace())),
        forced ->
            ForceReleaseResponse.newBuilder()
                .setReleased(forced.released())
                .setAsked(forced.asked())
                .build(),
        responses);
  }

  @Override
  public void closeLease(
      AdminServiceCloseLeaseRequest request,
      StreamObserver<AdminServiceCloseLeaseResponse> responses) {
    throw notOffered(
        "CloseLease of others' leases",
        "only who knows a lease's id can close it, through LeaseService");
  }

  @Override
  public void freeze(FreezeRequest request, StreamObserver<FreezeResponse> responses) {
    throw notOffered("Freeze", "this server cannot hold back grants under a prefix");
  }

  @Override
  public void unfreeze(UnfreezeRequest request, StreamObserver<UnfreezeResponse> responses) {
    throw notOffered("Unfreeze", "this server cannot hold back grants under a prefix");
  }

  @Override
  public void drain(DrainRequest request, StreamObserver<DrainResponse> responses) {
    throw notOffered(
        "Drain", "a server hands over what it serves when its process is told to stop");
  }

  private static NotOfferedException notOffered(String call, String reason) {
    return new NotOfferedException(call + " is not offered: " + reason);
  }
}
