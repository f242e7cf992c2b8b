package io.lockkeeper.cli;

import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A server on a free port that answers queries from what it was given, a page of one lock at a
 * time.
 */
final class FakeLockService extends LockServiceGrpc.LockServiceImplBase implements AutoCloseable {

  final List<LockState> locks = new ArrayList<>();
  final List<WatchResponse> events = new ArrayList<>();
  Optional<Status> refusal = Optional.empty();
  private final Server server;

  FakeLockService() throws IOException {
    server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(this)
            .build()
            .start();
  }

  /** Returns what to give {@code --server}. */
  String address() {
    return "localhost:" + server.getPort();
  }

  /** Returns a contender with that name. */
  static Contender.Builder contender(String holder) {
    return Contender.newBuilder().setHolder(holder).setLeaseTag("00112233aabbccdd");
  }

  @Override
  public void listLocks(ListLocksRequest request, StreamObserver<ListLocksResponse> response) {
    if (refused(response)) {
      return;
    }
    List<LockState> matching =
        locks.stream().filter(lock -> lock.getName().startsWith(request.getPrefix())).toList();
    int from = request.getPageToken().isEmpty() ? 0 : Integer.parseInt(request.getPageToken());
    ListLocksResponse.Builder page = ListLocksResponse.newBuilder();
    if (from < matching.size()) {
      page.addLocks(matching.get(from));
    }
    if (from + 1 < matching.size()) {
      page.setNextPageToken(Integer.toString(from + 1));
    }
    response.onNext(page.build());
    response.onCompleted();
  }

  @Override
  public void getLock(GetLockRequest request, StreamObserver<GetLockResponse> response) {
    if (refused(response)) {
      return;
    }
    LockState state =
        locks.stream()
            .filter(lock -> lock.getName().equals(request.getName()))
            .findFirst()
            .orElse(LockState.newBuilder().setName(request.getName()).build());
    response.onNext(GetLockResponse.newBuilder().setLock(state).build());
    response.onCompleted();
  }

  @Override
  public void watch(WatchRequest request, StreamObserver<WatchResponse> response) {
    if (refused(response)) {
      return;
    }
    events.forEach(response::onNext);
    response.onCompleted();
  }

  private boolean refused(StreamObserver<?> response) {
    refusal.ifPresent(status -> response.onError(status.asRuntimeException()));
    return refusal.isPresent();
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
