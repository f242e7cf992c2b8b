package io.lockkeeper.cli;

import com.google.protobuf.Message;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceCloseLeaseResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CheckTokenResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.DrainResponse;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.FreezeResponse;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.GetClusterResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.GetShardsRequest;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLeasesResponse;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.ShardServiceGrpc;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UnfreezeResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import io.lockkeeper.v1.WhoAmIRequest;
import io.lockkeeper.v1.WhoAmIResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server on a free port that answers queries from what it was given, a page of one lock at a
 * time.
 */
public final class FakeLockService extends LockServiceGrpc.LockServiceImplBase
    implements AutoCloseable {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  public final List<LockState> locks = new ArrayList<>();
  public final List<WatchResponse> events = new ArrayList<>();
  public final List<Contender> asked = new ArrayList<>();

  /** How a watch ends after its events; empty: well. */
  public Optional<Status> watchEnd = Optional.empty();

  /** How the next watches end, before {@link #watchEnd} counts. */
  public final Queue<Status> nextWatchEnds = new ConcurrentLinkedQueue<>();

  /** How the next questions for the table of shards end, before {@link #refusal} counts. */
  public final Queue<Status> nextTableEnds = new ConcurrentLinkedQueue<>();

  /** All requests about holders, limits and shards, and all watches, as they came. */
  public final List<Message> requests = new CopyOnWriteArrayList<>();

  /** What calls have said of who makes them. */
  public final List<String> authorizations = new CopyOnWriteArrayList<>();

  public final ForceReleaseResponse.Builder forced = ForceReleaseResponse.newBuilder();
  public final DrainResponse.Builder drained = DrainResponse.newBuilder();
  public final GetClusterResponse.Builder cluster = GetClusterResponse.newBuilder();
  public final List<LeaseState> leases = new ArrayList<>();
  public final WhoAmIResponse.Builder caller = WhoAmIResponse.newBuilder();
  public final CheckTokenResponse.Builder token = CheckTokenResponse.newBuilder();
  public final HealthStatusManager health = new HealthStatusManager();
  public int previousLimit;
  public Optional<Status> refusal = Optional.empty();
  private final Server server;

  public FakeLockService() {
    server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(this)
            .addService(new Admin())
            .addService(new Leases())
            .addService(new Shards())
            .addService(health.getHealthService())
            .intercept(new Authorizations())
            .build();
    try {
      server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what to give {@code --server}. */
  public String address() {
    return "localhost:" + server.getPort();
  }

  /** Returns a contender with that name. */
  public static Contender.Builder contender(String holder) {
    return Contender.newBuilder()
        .setHolder(holder)
        .setLeaseTag("00112233aabbccdd")
        .setMode(LockMode.LOCK_MODE_EXCLUSIVE);
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
    requests.add(request);
    events.forEach(response::onNext);
    Optional.ofNullable(nextWatchEnds.poll())
        .or(() -> watchEnd)
        .ifPresentOrElse(
            status -> response.onError(status.asRuntimeException()), response::onCompleted);
  }

  @Override
  public void requestRelease(
      RequestReleaseRequest request, StreamObserver<RequestReleaseResponse> response) {
    answer(request, RequestReleaseResponse.newBuilder().addAllHolders(asked).build(), response);
  }

  @Override
  public void configureLock(
      ConfigureLockRequest request, StreamObserver<ConfigureLockResponse> response) {
    answer(
        request,
        ConfigureLockResponse.newBuilder().setPreviousLimit(previousLimit).build(),
        response);
  }

  @Override
  public void whoAmI(WhoAmIRequest request, StreamObserver<WhoAmIResponse> response) {
    answer(request, caller.build(), response);
  }

  @Override
  public void checkToken(CheckTokenRequest request, StreamObserver<CheckTokenResponse> response) {
    answer(request, token.build(), response);
  }

  /** Nobody is served by it: a session is refused as told, or as what is not offered. */
  @Override
  public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> response) {
    if (!refused(response)) {
      return super.session(response);
    }
    return new StreamObserver<>() {
      @Override
      public void onNext(SessionRequest request) {}

      @Override
      public void onError(Throwable failure) {}

      @Override
      public void onCompleted() {}
    };
  }

  /** Says of itself that it is one ensemble. */
  private final class Shards extends ShardServiceGrpc.ShardServiceImplBase {
    @Override
    public void getShards(GetShardsRequest request, StreamObserver<GetShardsResponse> response) {
      Optional<Status> end = Optional.ofNullable(nextTableEnds.poll());
      if (end.isPresent()) {
        requests.add(request);
        response.onError(end.get().asRuntimeException());
      } else {
        answer(request, GetShardsResponse.getDefaultInstance(), response);
      }
    }
  }

  /** The service for leases. */
  private final class Leases extends LeaseServiceGrpc.LeaseServiceImplBase {
    @Override
    public void listLeases(ListLeasesRequest request, StreamObserver<ListLeasesResponse> response) {
      answer(request, ListLeasesResponse.newBuilder().addAllLeases(leases).build(), response);
    }
  }

  private final class Authorizations implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      Optional.ofNullable(headers.get(AUTHORIZATION)).ifPresent(authorizations::add);
      return next.startCall(call, headers);
    }
  }

  /** The service for operators. */
  private final class Admin extends AdminServiceGrpc.AdminServiceImplBase {
    @Override
    public void forceRelease(
        ForceReleaseRequest request, StreamObserver<ForceReleaseResponse> response) {
      answer(request, forced.build(), response);
    }

    @Override
    public void freeze(FreezeRequest request, StreamObserver<FreezeResponse> response) {
      answer(request, FreezeResponse.getDefaultInstance(), response);
    }

    @Override
    public void unfreeze(UnfreezeRequest request, StreamObserver<UnfreezeResponse> response) {
      answer(request, UnfreezeResponse.getDefaultInstance(), response);
    }

    @Override
    public void closeLease(
        AdminServiceCloseLeaseRequest request,
        StreamObserver<AdminServiceCloseLeaseResponse> response) {
      answer(request, AdminServiceCloseLeaseResponse.getDefaultInstance(), response);
    }

    @Override
    public void drain(DrainRequest request, StreamObserver<DrainResponse> response) {
      answer(request, drained.build(), response);
    }

    @Override
    public void getCluster(GetClusterRequest request, StreamObserver<GetClusterResponse> response) {
      answer(request, cluster.build(), response);
    }
  }

  private <T> void answer(Message request, T answer, StreamObserver<T> response) {
    requests.add(request);
    if (!refused(response)) {
      response.onNext(answer);
      response.onCompleted();
    }
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
