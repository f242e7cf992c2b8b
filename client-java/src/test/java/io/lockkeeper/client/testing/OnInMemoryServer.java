package io.lockkeeper.client.testing;

import io.grpc.ManagedChannel;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.ReleaseResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Bare stubs of an in-memory server: as clients in other languages would see it. */
abstract class OnInMemoryServer {

  static final String LOCK = "orders/42";
  static final String OTHER = "orders/43";

  final ManualClock clock = new ManualClock();
  InMemoryLockkeeper server;
  ManagedChannel channel;
  LockServiceGrpc.LockServiceBlockingStub locks;
  LeaseServiceGrpc.LeaseServiceBlockingStub leases;
  AdminServiceGrpc.AdminServiceBlockingStub admin;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start(clock);
    channel = server.connect();
    locks = LockServiceGrpc.newBlockingStub(channel);
    leases = LeaseServiceGrpc.newBlockingStub(channel);
    admin = AdminServiceGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.close();
  }

  /** Opens a lease that outlives the test, unless it is closed. */
  String lease() {
    return leases.openLease(OpenLeaseRequest.newBuilder().setTtl(span(3600)).build()).getLeaseId();
  }

  static LockRequest exclusive(String lock) {
    return wanted(lock, LockMode.LOCK_MODE_EXCLUSIVE);
  }

  static LockRequest read(String lock) {
    return wanted(lock, LockMode.LOCK_MODE_READ);
  }

  static LockRequest write(String lock) {
    return wanted(lock, LockMode.LOCK_MODE_WRITE);
  }

  static LockRequest permits(String lock, int permits, int limit) {
    return wanted(lock, LockMode.LOCK_MODE_PERMITS).toBuilder()
        .setPermits(permits)
        .setLimit(limit)
        .build();
  }

  private static LockRequest wanted(String lock, LockMode mode) {
    return LockRequest.newBuilder().setName(lock).setMode(mode).build();
  }

  /** A request of a new lease, or of {@code lease}. */
  AcquireRequest.Builder request(LockRequest... wanted) {
    return request(lease(), "", "only", wanted);
  }

  static AcquireRequest.Builder request(
      String lease, String owner, String id, LockRequest... wanted) {
    return AcquireRequest.newBuilder()
        .setLeaseId(lease)
        .setOwner(owner)
        .setRequestId(id)
        .addAllLocks(List.of(wanted));
  }

  /** Sends the request, and waits until all is done that it brings about. */
  Heard<AcquireResponse> acquire(AcquireRequest.Builder request) {
    Heard<AcquireResponse> heard = new Heard<>();
    LockServiceGrpc.newStub(channel).acquire(request.build(), heard);
    clock.settle();
    return heard;
  }

  ReleaseResponse release(AcquireRequest.Builder request) {
    ReleaseResponse released =
        locks.release(
            ReleaseRequest.newBuilder()
                .setLeaseId(request.getLeaseId())
                .setRequestId(request.getRequestId())
                .build());
    clock.settle();
    return released;
  }

  Heard<WatchResponse> watch(String lock) {
    Heard<WatchResponse> heard = new Heard<>();
    LockServiceGrpc.newStub(channel).watch(WatchRequest.newBuilder().addNames(lock).build(), heard);
    clock.settle();
    return heard;
  }

  LockState state(String lock) {
    return locks.getLock(GetLockRequest.newBuilder().setName(lock).build()).getLock();
  }

  /** Names the events in order. */
  static List<String> events(Heard<AcquireResponse> heard) {
    return heard.messages.stream().map(m -> m.getEventCase().name()).toList();
  }

  /** Names the causes of the changes in order. */
  static List<String> causes(Heard<WatchResponse> heard) {
    return heard.messages.stream()
        .filter(WatchResponse::hasChange)
        .map(m -> m.getChange().getCause().name().replace("CHANGE_CAUSE_", ""))
        .toList();
  }

  /** Returns the token of the first lock of the newest event, which must be a grant. */
  static long token(Heard<AcquireResponse> heard) {
    return heard.last().getGranted().getGrants(0).getFencingToken();
  }

  static com.google.protobuf.Duration span(long seconds) {
    return com.google.protobuf.Duration.newBuilder().setSeconds(seconds).build();
  }

  void pass(long millis) {
    clock.advance(Duration.ofMillis(millis));
  }
}
