package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.Duration;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockChange;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Who is let in, whose a lease is, who may do what, and what is recorded of that. */
class AccessTest {

  private static final Contender HIDDEN =
      Contender.newBuilder().setHolder("(hidden)").setMode(LockMode.LOCK_MODE_EXCLUSIVE).build();

  private final SomeRights rights =
      new SomeRights()
          .give("token:shop", "", Right.READ, Right.ACQUIRE, Right.WATCH)
          .give("token:pay", "pay/", Right.READ, Right.ACQUIRE, Right.WATCH)
          .give("token:blind", "", Right.ACQUIRE)
          .give("token:asker", "", Right.REQUEST_RELEASE)
          .give("token:root", "", Right.values());

  @AutoClose private final SecuredServer secured = new SecuredServer(rights);

  private static AcquireRequest request(String lock) {
    return AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName(lock)).build();
  }

  private Received<AcquireRequest, AcquireResponse> acquire(String who, AcquireRequest request) {
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    secured.locks(who).acquire(request, client);
    return client;
  }

  private Received<AcquireRequest, AcquireResponse> hold(String who, String lock) {
    var holder = acquire(who, request(lock));
    assertThat(holder.next().hasGranted()).isTrue();
    return holder;
  }

  private OpenLeaseResponse open(String who) {
    return secured.leasesNow(who).openLease(OpenLeaseRequest.getDefaultInstance());
  }

  private static StatusRuntimeException failure(ThrowingCallable call) {
    return catchThrowableOfType(StatusRuntimeException.class, call);
  }

  private static String words(StatusRuntimeException failure) {
    return failure.getStatus().getCode() + " " + failure.getStatus().getDescription();
  }

  @Test
  void nobodyIsLetInOfWhomNothingIsKnown() {
    // When
    StatusRuntimeException nothing =
        failure(() -> secured.server.locksNow().listLocks(ListLocksRequest.getDefaultInstance()));
    StatusRuntimeException wrong =
        failure(
            () ->
                secured
                    .server
                    .locksNow()
                    .withInterceptors(SecuredServer.header("authorization", "Bearer secret-1"))
                    .listLocks(ListLocksRequest.getDefaultInstance()));
    // Then
    assertThat(nothing.getStatus().getCode()).isEqualTo(Code.UNAUTHENTICATED);
    assertThat(wrong.getStatus().getCode()).isEqualTo(Code.UNAUTHENTICATED);
    assertThat(secured.audited).extracting(Audit.Entry::result).containsOnly("UNAUTHENTICATED");
    assertThat(secured.audited.toString()).doesNotContain("secret-1");
  }

  @Test
  void healthIsOpenToEverybody() {
    assertThat(
            HealthGrpc.newBlockingStub(secured.server.channel)
                .check(HealthCheckRequest.getDefaultInstance())
                .getStatus())
        .isEqualTo(ServingStatus.SERVING);
  }

  @Test
  void nobodyButACoordinatorMayForwardCalls() {
    // When
    StatusRuntimeException impostor =
        failure(
            () ->
                secured
                    .locksNow("shop")
                    .withInterceptors(
                        SecuredServer.header("lockkeeper-forwarded-by", "c-2"),
                        SecuredServer.header("lockkeeper-caller", "dG9rZW46cm9vdA=="))
                    .getLock(GetLockRequest.newBuilder().setName("a").build()));
    // Then
    assertThat(impostor.getStatus().getCode()).isEqualTo(Code.UNAUTHENTICATED);
    assertThat(impostor.getStatus().getDescription()).contains("only a coordinator may forward");
  }

  private Map<String, Consumer<String>> callsWithALease(String who, String secret) {
    Map<String, Consumer<String>> calls = new LinkedHashMap<>();
    calls.put(
        "RenewLease",
        id ->
            secured
                .leasesNow(who)
                .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(id).build()));
    calls.put(
        "CloseLease",
        id ->
            secured
                .leasesNow(who)
                .closeLease(CloseLeaseRequest.newBuilder().setLeaseId(id).build()));
    calls.put(
        "GetLease",
        id -> secured.leasesNow(who).getLease(GetLeaseRequest.newBuilder().setLeaseId(id).build()));
    calls.put(
        "Release",
        id ->
            secured
                .locksNow(who)
                .release(ReleaseRequest.newBuilder().setLeaseId(id).setRequestId("r").build()));
    calls.put(
        "UpdateMetadata",
        id ->
            secured
                .locksNow(who)
                .updateMetadata(
                    UpdateMetadataRequest.newBuilder().setLeaseId(id).setRequestId("r").build()));
    calls.put(
        "AnswerRelease",
        id ->
            secured
                .locksNow(who)
                .answerRelease(
                    AnswerReleaseRequest.newBuilder()
                        .setLeaseId(id)
                        .setRequestId("r")
                        .setNeeds(Duration.newBuilder().setSeconds(1))
                        .build()));
    calls.put(
        "Acquire",
        id -> {
          throw acquire(who, request("a").toBuilder().setLeaseId(id).setRequestId("r").build())
              .end()
              .asRuntimeException();
        });
    calls.put(
        "Session",
        id -> {
          Received<SessionRequest, SessionResponse> client = Received.all();
          StreamObserver<SessionRequest> requests = secured.locks(who).session(client);
          requests.onNext(
              SessionRequest.newBuilder()
                  .setOpen(OpenSession.newBuilder().setLeaseId(id).setLeaseSecret(secret))
                  .build());
          throw client.end().asRuntimeException();
        });
    return calls;
  }

  @Test
  void leaseOfAnotherIsAnsweredLikeOneThatThereIsNot() {
    // Given: everything of the lease was stolen
    OpenLeaseResponse lease = open("shop");
    String id = lease.getLeaseId();
    String none = id.substring(0, 16) + "0123456789abcdef";
    // When
    callsWithALease("blind", lease.getLeaseSecret())
        .forEach(
            (name, call) -> {
              StatusRuntimeException foreign = failure(() -> call.accept(id));
              StatusRuntimeException unknown = failure(() -> call.accept(none));
              // Then
              assertThat(foreign.getStatus().getCode()).as(name).isEqualTo(Code.NOT_FOUND);
              assertThat(words(foreign)).as(name).isEqualTo(words(unknown));
            });
    assertThat(
            secured
                .leasesNow("shop")
                .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(id).build())
                .hasValidFor())
        .isTrue();
  }

  @Test
  void secretOfAnothersLeaseOpensNothing() {
    // Given: who knows the chosen secret knows the id as well
    String secret = "0123456789abcdef0123456789abcdef";
    OpenLeaseRequest chosen = OpenLeaseRequest.newBuilder().setLeaseSecret(secret).build();
    secured.leasesNow("shop").openLease(chosen);
    // When
    StatusRuntimeException refused = failure(() -> secured.leasesNow("blind").openLease(chosen));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @Test
  void onlyAnOperatorSeesTheLeasesOfOthers() {
    // Given
    OpenLeaseResponse lease = open("shop");
    // When
    List<LeaseState> others =
        secured.leasesNow("pay").listLeases(ListLeasesRequest.getDefaultInstance()).getLeasesList();
    List<LeaseState> own =
        secured
            .leasesNow("shop")
            .listLeases(ListLeasesRequest.getDefaultInstance())
            .getLeasesList();
    List<LeaseState> all =
        secured
            .leasesNow("root")
            .listLeases(ListLeasesRequest.getDefaultInstance())
            .getLeasesList();
    // Then
    assertThat(others).isEmpty();
    assertThat(own).extracting(LeaseState::getLeaseTag).containsExactly(lease.getLeaseTag());
    assertThat(all).extracting(LeaseState::getLeaseTag).containsExactly(lease.getLeaseTag());
  }

  private Map<Right, Consumer<String>> callsWithALock(String who) {
    Map<Right, Consumer<String>> calls = new LinkedHashMap<>();
    calls.put(
        Right.READ,
        lock -> secured.locksNow(who).getLock(GetLockRequest.newBuilder().setName(lock).build()));
    calls.put(
        Right.ACQUIRE,
        lock -> {
          throw acquire(who, request(lock)).end().asRuntimeException();
        });
    calls.put(
        Right.ACQUIRE_SHARED,
        lock -> {
          throw acquire(
                  who,
                  AcquireRequest.newBuilder()
                      .addLocks(
                          LockRequest.newBuilder().setName(lock).setMode(LockMode.LOCK_MODE_READ))
                      .build())
              .end()
              .asRuntimeException();
        });
    calls.put(
        Right.WATCH,
        lock -> {
          Received<WatchRequest, WatchResponse> client = Received.all();
          secured.locks(who).watch(WatchRequest.newBuilder().addNames(lock).build(), client);
          throw client.end().asRuntimeException();
        });
    calls.put(
        Right.REQUEST_RELEASE,
        lock ->
            secured
                .locksNow(who)
                .requestRelease(RequestReleaseRequest.newBuilder().setName(lock).build()));
    calls.put(
        Right.RELEASE_OTHERS,
        lock ->
            secured
                .admin(who)
                .forceRelease(ForceReleaseRequest.newBuilder().setName(lock).build()));
    calls.put(
        Right.CONFIGURE,
        lock ->
            secured
                .locksNow(who)
                .configureLock(
                    ConfigureLockRequest.newBuilder().setName(lock).setLimit(2).build()));
    return calls;
  }

  @Test
  void whatIsDeniedNamesTheIdentityAndTheRightAndNotWhetherThereIsALock() {
    // Given
    hold("shop", "orders/1");
    // When
    callsWithALock("pay")
        .forEach(
            (right, call) -> {
              StatusRuntimeException used = failure(() -> call.accept("orders/1"));
              StatusRuntimeException free = failure(() -> call.accept("orders/2"));
              // Then
              assertThat(used.getStatus().getCode())
                  .as(right.key())
                  .isEqualTo(Code.PERMISSION_DENIED);
              assertThat(words(used)).contains("'token:pay'", "'" + right.key() + "'");
              assertThat(words(used).replace("orders/1", "orders/2")).isEqualTo(words(free));
            });
    assertThat(secured.audited)
        .extracting(entry -> entry.details().get("right"))
        .contains(Right.READ.key(), Right.RELEASE_OTHERS.key(), Right.CONFIGURE.key());
  }

  @Test
  void permitsAreNotShared() {
    // Given
    rights.give("token:reader", "", Right.ACQUIRE_SHARED);
    LockRequest.Builder lock = LockRequest.newBuilder().setName("pool");
    // When
    var permits =
        acquire(
            "reader",
            AcquireRequest.newBuilder()
                .addLocks(lock.setMode(LockMode.LOCK_MODE_PERMITS).setPermits(1).setLimit(2))
                .build());
    var read =
        acquire(
            "reader",
            AcquireRequest.newBuilder()
                .addLocks(LockRequest.newBuilder().setName("book").setMode(LockMode.LOCK_MODE_READ))
                .build());
    // Then
    assertThat(permits.end().getCode()).isEqualTo(Code.PERMISSION_DENIED);
    assertThat(read.next().hasGranted()).isTrue();
  }

  @Test
  void tokenOfALockThatMayNotBeReadIsNotChecked() {
    assertThat(
            failure(
                    () ->
                        secured
                            .locksNow("pay")
                            .checkToken(
                                CheckTokenRequest.newBuilder()
                                    .setName("orders/1")
                                    .setFencingToken(1)
                                    .build()))
                .getStatus()
                .getCode())
        .isEqualTo(Code.PERMISSION_DENIED);
  }

  @Test
  void whatMayNotBeReadIsAbsentFromListsAndPages() {
    // Given
    hold("shop", "orders/1");
    hold("shop", "orders/2");
    hold("pay", "pay/1");
    // When
    List<LockState> seen =
        secured
            .locksNow("pay")
            .listLocks(ListLocksRequest.newBuilder().setPageSize(1).build())
            .getLocksList();
    List<LockState> all =
        secured.locksNow("shop").listLocks(ListLocksRequest.getDefaultInstance()).getLocksList();
    // Then
    assertThat(seen).extracting(LockState::getName).containsExactly("pay/1");
    assertThat(all).hasSize(3);
  }

  @Test
  void pageDoesNotTellWhetherThereAreHiddenLocks() {
    // Given
    hold("pay", "pay/1");
    hold("shop", "orders/1");
    hold("shop", "zoo/1");
    ListLocksRequest one = ListLocksRequest.newBuilder().setPageSize(1).build();
    // When
    ListLocksResponse last = secured.locksNow("pay").listLocks(one);
    hold("pay", "pay/2");
    ListLocksResponse first = secured.locksNow("pay").listLocks(one);
    ListLocksResponse second =
        secured
            .locksNow("pay")
            .listLocks(one.toBuilder().setPageToken(first.getNextPageToken()).build());
    ListLocksResponse forged =
        secured
            .locksNow("pay")
            .listLocks(one.toBuilder().setPageToken(Fields.toPageToken("orders/1")).build());
    // Then
    assertThat(last.getLocksList()).extracting(LockState::getName).containsExactly("pay/1");
    assertThat(last.getNextPageToken()).isEmpty();
    assertThat(first.getNextPageToken()).isEqualTo(Fields.toPageToken("pay/1"));
    assertThat(second.getLocksList()).extracting(LockState::getName).containsExactly("pay/2");
    assertThat(second.getNextPageToken()).isEmpty();
    assertThat(forged.getLocksList()).extracting(LockState::getName).containsExactly("pay/1");
    assertThat(forged.getNextPageToken()).isEqualTo(first.getNextPageToken());
  }

  @Test
  void whatMayNotBeWatchedIsAbsentFromWatches() {
    // Given
    hold("shop", "orders/1");
    hold("pay", "pay/1");
    Received<WatchRequest, WatchResponse> client = Received.all();
    // When
    secured.locks("pay").watch(WatchRequest.getDefaultInstance(), client);
    // Then
    assertThat(client.next().getSnapshot().getName()).isEqualTo("pay/1");
    assertThat(client.next().hasSnapshotEnd()).isTrue();
    // And when
    hold("shop", "orders/2");
    hold("pay", "pay/2");
    // Then
    assertThat(client.next().getChange().getName()).isEqualTo("pay/2");
  }

  @Test
  void whoMayNotReadALockIsNotToldWhoHoldsIt() {
    // Given
    hold("shop", "orders/1");
    // When
    Queued queued = acquire("blind", request("orders/1")).next().getQueued();
    Queued reader = acquire("root", request("orders/1")).next().getQueued();
    NotAcquired refused =
        acquire(
                "blind",
                request("orders/1").toBuilder()
                    .setWaitTimeout(Duration.getDefaultInstance())
                    .build())
            .next()
            .getNotAcquired();
    // Then
    assertThat(queued.getPositions(0).getAhead()).isEqualTo(1);
    assertThat(queued.getPositions(0).getHoldersList()).containsExactly(HIDDEN);
    assertThat(reader.getPositions(0).getHoldersList()).hasSize(1);
    assertThat(refused.getHoldersList()).isNotEmpty().containsOnly(HIDDEN);
    RequestReleaseRequest wish = RequestReleaseRequest.newBuilder().setName("orders/1").build();
    assertThat(secured.locksNow("asker").requestRelease(wish).getHoldersList())
        .containsExactly(HIDDEN);
    assertThat(secured.locksNow("root").requestRelease(wish).getHoldersList()).hasSize(1);
  }

  @Test
  void watcherThatMayNotReadALockSeesItsChangesAndNotWhoIsInItsQueue() {
    // Given
    rights.give("token:watcher", "", Right.WATCH);
    hold("shop", "orders/1");
    Received<WatchRequest, WatchResponse> client = Received.all();
    // When
    secured.locks("watcher").watch(WatchRequest.newBuilder().addNames("orders/1").build(), client);
    LockState snapshot = client.next().getSnapshot();
    assertThat(client.next().hasSnapshotEnd()).isTrue();
    acquire("shop", request("orders/1"));
    LockChange queued = client.next().getChange();
    // Then
    assertThat(snapshot.getHoldersList()).containsExactly(HIDDEN);
    assertThat(queued.getCause()).isEqualTo(ChangeCause.CHANGE_CAUSE_QUEUED);
    assertThat(queued.getQueueLength()).isEqualTo(1);
    assertThat(queued.getContender()).isEqualTo(HIDDEN);
    assertThat(queued.getHoldersList()).containsExactly(HIDDEN);
  }

  @Test
  void cycleOfWaitsDoesNotSpellOutWhatMayNotBeRead() {
    // Given: one who may read nothing is about to wait for what waits for him
    rights.give("token:pay", "", Right.ACQUIRE);
    OpenLeaseResponse mine = open("pay");
    OpenLeaseResponse other = open("shop");
    hold("pay", mine, "a");
    hold("shop", other, "b");
    assertThat(acquire("shop", under(other, "a")).next().hasQueued()).isTrue();
    // When
    NotAcquired refused = lastOf(acquire("pay", under(mine, "b")));
    // Then
    assertThat(refused.getMessage()).contains("a cycle of waits", "may not read");
    assertThat(refused.getMessage()).doesNotContain(other.getLeaseTag(), "'a'");
  }

  private void hold(String who, OpenLeaseResponse lease, String lock) {
    assertThat(acquire(who, under(lock, lease)).next().hasGranted()).isTrue();
  }

  private static AcquireRequest under(OpenLeaseResponse lease, String lock) {
    return under(lock, lease);
  }

  private static AcquireRequest under(String lock, OpenLeaseResponse lease) {
    return request(lock).toBuilder()
        .setLeaseId(lease.getLeaseId())
        .setRequestId("on-" + lock)
        .setOwner("me")
        .build();
  }

  private static NotAcquired lastOf(Received<AcquireRequest, AcquireResponse> client) {
    AcquireResponse event = client.next();
    while (!event.hasNotAcquired()) {
      event = client.next();
    }
    return event.getNotAcquired();
  }

  @Test
  void whatOperatorsDoIsRecordedWithWhoAndWhatAndHowItEnded() {
    // Given
    hold("shop", "orders/1");
    // When
    secured
        .admin("root")
        .forceRelease(
            ForceReleaseRequest.newBuilder().setName("orders/1").setReason("stuck").build());
    failure(
        () ->
            secured
                .admin("root")
                .forceRelease(ForceReleaseRequest.newBuilder().setName("orders/1").build()));
    secured
        .locksNow("root")
        .configureLock(ConfigureLockRequest.newBuilder().setName("pool").setLimit(3).build());
    var unused =
        secured
            .locksNow("asker")
            .requestRelease(RequestReleaseRequest.newBuilder().setName("orders/1").build());
    // Then
    assertThat(secured.audited)
        .extracting(Audit.Entry::action, entry -> entry.identity().name(), Audit.Entry::result)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(
                "lockkeeper.v1.AdminService/ForceRelease", "token:root", "OK"),
            org.assertj.core.groups.Tuple.tuple(
                "lockkeeper.v1.AdminService/ForceRelease", "token:root", "NOT_FOUND"),
            org.assertj.core.groups.Tuple.tuple(
                "lockkeeper.v1.LockService/ConfigureLock", "token:root", "OK"),
            org.assertj.core.groups.Tuple.tuple(Audit.RELEASE_REQUEST, "token:asker", "OK"));
    assertThat(secured.audited.get(0).details())
        .containsEntry("lock", "orders/1")
        .containsEntry("reason", "stuck");
    assertThat(secured.audited.get(2).details()).containsEntry("limit", "3");
  }

  @Test
  void rightThatIsTakenAwayCountsFromTheNextRequestOn() {
    // Given
    rights.give("token:pay", "pay/", Right.READ);
    secured.locksNow("pay").getLock(GetLockRequest.newBuilder().setName("pay/1").build());
    // When
    rights.give("token:pay", "other/", Right.READ);
    // Then
    assertThat(
            failure(
                    () ->
                        secured
                            .locksNow("pay")
                            .getLock(GetLockRequest.newBuilder().setName("pay/1").build()))
                .getStatus()
                .getCode())
        .isEqualTo(Code.PERMISSION_DENIED);
  }
}
