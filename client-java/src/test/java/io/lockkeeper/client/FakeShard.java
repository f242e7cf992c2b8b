package io.lockkeeper.client;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.GetShardsRequest;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.ShardServiceGrpc;
import io.lockkeeper.v1.ShardTable;
import io.lockkeeper.v1.SnapshotEnd;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import io.lockkeeper.v1.WrongShard;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A server of one of several shards. Grants at once what it serves, but for locks with a segment
 * {@code taken}: who asks for those waits, or is not granted if he does not wait.
 */
final class FakeShard implements AutoCloseable {

  private static final long EPOCH = 1;
  private static final long TTL_SECONDS = 60;
  private static final Duration RETRY_AFTER = Duration.newBuilder().setNanos(50_000_000).build();

  private final String id;
  private final FakeShards all;
  private final Server server;
  private final List<AcquireRequest> asked = new CopyOnWriteArrayList<>();
  private final List<String> released = new CopyOnWriteArrayList<>();
  private final List<String> read = new CopyOnWriteArrayList<>();
  private final List<WatchRequest> watched = new CopyOnWriteArrayList<>();
  private final List<StreamObserver<WatchResponse>> watches = new CopyOnWriteArrayList<>();
  private final List<StreamObserver<SessionResponse>> streams = new CopyOnWriteArrayList<>();
  private final Map<String, StreamObserver<SessionResponse>> waiting = new LinkedHashMap<>();
  private final AtomicInteger leases = new AtomicInteger();
  private final AtomicInteger tablesAsked = new AtomicInteger();
  private final AtomicLong sequence = new AtomicLong();
  private final AtomicInteger moving = new AtomicInteger();
  private volatile ShardTable table = ShardTable.getDefaultInstance();
  private volatile Optional<Status> tableFails = Optional.empty();
  private volatile boolean silent;

  FakeShard(String id, FakeShards all, String name) throws IOException {
    this.id = id;
    this.all = all;
    this.server =
        InProcessServerBuilder.forName(name)
            .addService(new Locks())
            .addService(new Tables())
            .build()
            .start();
  }

  void setTable(ShardTable table) {
    this.table = table;
  }

  /** Asked for the table, it says nothing. */
  void beSilentAboutTheTable() {
    silent = true;
  }

  /** Asked for the table, it fails. */
  void failToTellTheTable(Status status) {
    tableFails = Optional.of(status);
  }

  /** The next so many requests for anything hear that the namespace moves. */
  void moveFor(int requests) {
    moving.set(requests);
  }

  /** Returns what it was asked for, in this order. */
  List<AcquireRequest> asked() {
    return List.copyOf(asked);
  }

  /** Returns the first locks of what it was asked for. */
  List<String> askedNames() {
    return asked.stream().map(request -> request.getLocks(0).getName()).toList();
  }

  /** Returns the request ids of the releases. */
  List<String> released() {
    return List.copyOf(released);
  }

  /** Returns the names and prefixes of the unary calls. */
  List<String> read() {
    return List.copyOf(read);
  }

  /** Returns the watches that were begun. */
  List<WatchRequest> watched() {
    return List.copyOf(watched);
  }

  /** Returns how many leases were opened. */
  int leases() {
    return leases.get();
  }

  /** Returns how often the table was asked for. */
  int tablesAsked() {
    return tablesAsked.get();
  }

  /** All who wait are told that their places are gone. */
  synchronized void tellMoved() {
    NotAcquired moved =
        NotAcquired.newBuilder()
            .setReason(NotAcquiredReason.NOT_ACQUIRED_REASON_NAMESPACE_MOVED)
            .build();
    waiting.forEach(
        (request, client) ->
            client.onNext(event(request, AcquireResponse.newBuilder().setNotAcquired(moved))));
    waiting.clear();
  }

  /** Ends all leases. */
  synchronized void endLeases() {
    SessionResponse ended =
        SessionResponse.newBuilder()
            .setEpoch(EPOCH)
            .setLeaseEnded(LeaseEnded.getDefaultInstance())
            .build();
    streams.forEach(client -> client.onNext(ended));
  }

  /** Ends all streams; the leases go on. */
  synchronized void breakStreams() {
    List<StreamObserver<SessionResponse>> broken = List.copyOf(streams);
    streams.clear();
    broken.forEach(client -> client.onError(Status.UNAVAILABLE.asRuntimeException()));
  }

  /** Ends all watches, since another shard serves what they watch. */
  void endWatches(String namespace) {
    List<StreamObserver<WatchResponse>> ended = List.copyOf(watches);
    watches.clear();
    ended.forEach(watch -> watch.onError(failure(wrongShard(namespace))));
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  /** Why something about names is refused, and nothing if it is not. */
  private Optional<Refused> refusal(List<String> names) {
    List<String> shards = names.stream().map(all::serving).distinct().toList();
    if (shards.size() > 1) {
      return Optional.of(refused(ErrorReason.ERROR_REASON_ACROSS_SHARDS).build());
    }
    if (moving.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      return Optional.of(
          refused(ErrorReason.ERROR_REASON_NAMESPACE_MOVING)
              .setCode(Status.Code.UNAVAILABLE.value())
              .setRetryAfter(RETRY_AFTER)
              .build());
    }
    return shards.get(0).equals(id) ? Optional.empty() : Optional.of(wrongShard(names.get(0)));
  }

  private Refused wrongShard(String name) {
    String namespace = name.split("/", 2)[0];
    String serving = all.serving(name);
    // What its own table contradicts it has from the one before.
    boolean isOlder =
        table.getNamespacesList().stream()
            .anyMatch(
                each -> each.getNamespace().equals(namespace) && !each.getShard().equals(serving));
    WrongShard said =
        WrongShard.newBuilder()
            .setNamespace(namespace)
            .setShard(FakeShards.message(serving))
            .setTableVersion(table.getVersion() - (isOlder ? 1 : 0))
            .build();
    return refused(ErrorReason.ERROR_REASON_WRONG_SHARD).setWrongShard(said).build();
  }

  private static Refused.Builder refused(ErrorReason reason) {
    return Refused.newBuilder()
        .setReason(reason)
        .setCode(Status.Code.FAILED_PRECONDITION.value())
        .setMessage("refused by a test");
  }

  private static StatusRuntimeException failure(Refused why) {
    com.google.rpc.Status.Builder status =
        com.google.rpc.Status.newBuilder().setCode(why.getCode()).setMessage(why.getMessage());
    String reason = why.getReason().name().replace("ERROR_REASON_", "");
    status.addDetails(
        Any.pack(ErrorInfo.newBuilder().setDomain("lockkeeper.io").setReason(reason).build()));
    if (why.hasWrongShard()) {
      status.addDetails(Any.pack(why.getWrongShard()));
    }
    if (why.hasRetryAfter()) {
      status.addDetails(
          Any.pack(RetryInfo.newBuilder().setRetryDelay(why.getRetryAfter()).build()));
    }
    return StatusProto.toStatusRuntimeException(status.build());
  }

  private <T> boolean isRefused(String name, StreamObserver<T> answer) {
    Optional<Refused> refusal = refusal(List.of(name));
    refusal.ifPresent(why -> answer.onError(failure(why)));
    return refusal.isPresent();
  }

  private final class Tables extends ShardServiceGrpc.ShardServiceImplBase {
    @Override
    public void getShards(GetShardsRequest request, StreamObserver<GetShardsResponse> answer) {
      tablesAsked.incrementAndGet();
      if (tableFails.isPresent()) {
        answer.onError(tableFails.get().asRuntimeException());
      } else if (!silent) {
        answer.onNext(GetShardsResponse.newBuilder().setTable(table).setSelf(id).build());
        answer.onCompleted();
      }
    }
  }

  private final class Locks extends LockServiceGrpc.LockServiceImplBase {
    @Override
    public void getLock(GetLockRequest request, StreamObserver<GetLockResponse> answer) {
      read.add(request.getName());
      if (!isRefused(request.getName(), answer)) {
        LockState lock = LockState.newBuilder().setName(request.getName()).build();
        answer.onNext(GetLockResponse.newBuilder().setLock(lock).build());
        answer.onCompleted();
      }
    }

    @Override
    public void listLocks(ListLocksRequest request, StreamObserver<ListLocksResponse> answer) {
      read.add(request.getPrefix());
      if (!request.getPrefix().contains("/") || !isRefused(request.getPrefix(), answer)) {
        LockState lock = LockState.newBuilder().setName(request.getPrefix() + id).build();
        answer.onNext(ListLocksResponse.newBuilder().addLocks(lock).build());
        answer.onCompleted();
      }
    }

    @Override
    public void watch(WatchRequest request, StreamObserver<WatchResponse> answer) {
      watched.add(request);
      List<String> names = new ArrayList<>(request.getNamesList());
      if (request.getPrefix().contains("/")) {
        names.add(request.getPrefix());
      }
      Optional<Refused> refusal = names.isEmpty() ? Optional.empty() : refusal(names);
      if (refusal.isPresent()) {
        answer.onError(failure(refusal.get()));
        return;
      }
      watches.add(answer);
      answer.onNext(
          WatchResponse.newBuilder()
              .setRevision(7)
              .setSnapshotEnd(SnapshotEnd.getDefaultInstance())
              .build());
    }

    @Override
    public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> client) {
      return new StreamObserver<>() {
        @Override
        public void onNext(SessionRequest request) {
          answer(request, client);
        }

        @Override
        public void onError(Throwable failure) {
          streams.remove(client);
        }

        @Override
        public void onCompleted() {
          client.onCompleted();
        }
      };
    }
  }

  private synchronized void answer(SessionRequest request, StreamObserver<SessionResponse> client) {
    SessionResponse.Builder response = SessionResponse.newBuilder().setEpoch(EPOCH);
    switch (request.getRequestCase()) {
      case OPEN -> {
        leases.addAndGet(request.getOpen().getLeaseId().isEmpty() ? 1 : 0);
        streams.add(client);
        SessionOpened.Builder opened = response.getOpenedBuilder();
        opened.setLeaseId("lease-" + id).setLeaseTag("tag-" + id);
        opened.getTtlBuilder().setSeconds(TTL_SECONDS);
        opened.getValidForBuilder().setSeconds(TTL_SECONDS);
      }
      case KEEP_ALIVE -> {
        SessionKeptAlive.Builder kept = response.getKeptAliveBuilder();
        kept.setNonce(request.getKeepAlive().getNonce());
        kept.getValidForBuilder().setSeconds(TTL_SECONDS);
      }
      case RELEASE -> {
        String requestId = request.getRelease().getRequestId();
        waiting.remove(requestId);
        released.add(requestId);
        SessionReleased.Builder done = response.getReleasedBuilder().setRequestId(requestId);
        done.getResultBuilder().setOutcome(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
      }
      case CLOSE -> response.setLeaseEnded(LeaseEnded.getDefaultInstance());
      case ACQUIRE -> {
        acquire(request.getAcquire(), client);
        return;
      }
      default -> throw new AssertionError("not expected: " + request);
    }
    client.onNext(response.build());
  }

  private void acquire(AcquireRequest request, StreamObserver<SessionResponse> client) {
    asked.add(request);
    String requestId = request.getRequestId();
    List<String> names =
        request.getLocksList().stream().map(io.lockkeeper.v1.LockRequest::getName).toList();
    Optional<Refused> refusal =
        request.getHeldTokensCount() > 0 ? Optional.empty() : refusal(names);
    if (refusal.isPresent()) {
      Refused refused = refusal.get().toBuilder().setAcquire(requestId).build();
      client.onNext(SessionResponse.newBuilder().setEpoch(EPOCH).setRefused(refused).build());
    } else if (!names.get(0).endsWith("/taken")) {
      Granted.Builder granted = Granted.newBuilder();
      names.forEach(
          name ->
              granted.addGrants(
                  Grant.newBuilder().setName(name).setFencingToken(sequence.get() + 1)));
      client.onNext(event(requestId, AcquireResponse.newBuilder().setGranted(granted)));
    } else if (request.hasWaitTimeout()
        && request.getWaitTimeout().equals(Duration.newBuilder().build())) {
      NotAcquired.Builder timedOut =
          NotAcquired.newBuilder().setReason(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
      client.onNext(event(requestId, AcquireResponse.newBuilder().setNotAcquired(timedOut)));
    } else {
      waiting.put(requestId, client);
      client.onNext(
          event(requestId, AcquireResponse.newBuilder().setQueued(Queued.getDefaultInstance())));
    }
  }

  private SessionResponse event(String requestId, AcquireResponse.Builder event) {
    return SessionResponse.newBuilder()
        .setEpoch(EPOCH)
        .setEvent(
            event.setEpoch(EPOCH).setSequence(sequence.incrementAndGet()).setRequestId(requestId))
        .build();
  }
}
