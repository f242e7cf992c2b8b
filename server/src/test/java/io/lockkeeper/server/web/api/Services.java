package io.lockkeeper.server.web.api;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceImplBase;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Services that answer reads at once, and streams when told. */
final class Services extends LockServiceImplBase {

  /** A call that waits to be answered. */
  record Call<Q, R>(Q request, ServerCallStreamObserver<R> answer) {}

  final BlockingQueue<Call<AcquireRequest, AcquireResponse>> acquires = new LinkedBlockingQueue<>();
  final BlockingQueue<Call<WatchRequest, WatchResponse>> watches = new LinkedBlockingQueue<>();

  @Override
  public void getLock(GetLockRequest request, StreamObserver<GetLockResponse> answer) {
    if (request.getName().equals("broken")) {
      answer.onError(Status.UNAVAILABLE.withDescription("no ZooKeeper").asRuntimeException());
      return;
    }
    answer.onNext(
        GetLockResponse.newBuilder()
            .setLock(
                LockState.newBuilder()
                    .setName(request.getName())
                    .setQueueLength(request.getQueueLimit()))
            .build());
    answer.onCompleted();
  }

  @Override
  public void listLocks(ListLocksRequest request, StreamObserver<ListLocksResponse> answer) {
    answer.onNext(
        ListLocksResponse.newBuilder()
            .addLocks(LockState.newBuilder().setName(request.getPrefix()))
            .setNextPageToken("next")
            .build());
    answer.onCompleted();
  }

  @Override
  public void acquire(AcquireRequest request, StreamObserver<AcquireResponse> answer) {
    acquires.add(new Call<>(request, cancellable(answer)));
  }

  @Override
  public void watch(WatchRequest request, StreamObserver<WatchResponse> answer) {
    watches.add(new Call<>(request, cancellable(answer)));
  }

  private static <R> ServerCallStreamObserver<R> cancellable(StreamObserver<R> answer) {
    ServerCallStreamObserver<R> call = (ServerCallStreamObserver<R>) answer;
    call.setOnCancelHandler(() -> {});
    return call;
  }
}
