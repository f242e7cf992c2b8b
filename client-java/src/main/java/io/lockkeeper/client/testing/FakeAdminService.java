package io.lockkeeper.client.testing;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;

/** What operators may do on the in-memory server. Its executor is the server's loop. */
final class FakeAdminService extends AdminServiceGrpc.AdminServiceImplBase {

  private final FakeState state;

  FakeAdminService(FakeState state) {
    this.state = state;
  }

  @Override
  public void forceRelease(
      ForceReleaseRequest request, StreamObserver<ForceReleaseResponse> responses) {
    FakeLockService.answer(responses, () -> state.influence.forceRelease(request));
  }
}
