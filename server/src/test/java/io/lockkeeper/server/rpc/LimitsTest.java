package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.Duration;
import com.google.rpc.RetryInfo;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** How much one identity may have and ask for: at its limit, and not beyond; others go on. */
class LimitsTest {

  private final SomeRights rights =
      new SomeRights()
          .give("token:greedy", "", Right.values())
          .give("token:other", "", Right.values());

  @AutoClose private final SecuredServer secured = new SecuredServer(rights);

  private void limit(Limits limits) {
    rights.limit("token:greedy", limits);
  }

  private static Limits of(
      int leases, int acquisitions, long entryBytes, int streams, int watches, int requests) {
    return new Limits(
        leases,
        acquisitions,
        entryBytes,
        MANY,
        MANY,
        MANY,
        streams,
        watches,
        requests,
        64,
        java.time.Duration.ofMinutes(1),
        Limits.DEFAULTS.maxWait(),
        Limits.DEFAULTS.maxLockDelay());
  }

  private static final int MANY = 10_000;

  private OpenLeaseResponse open(String who) {
    return secured.leasesNow(who).openLease(OpenLeaseRequest.getDefaultInstance());
  }

  private static StatusRuntimeException failure(ThrowingCallable call) {
    return catchThrowableOfType(StatusRuntimeException.class, call);
  }

  private static void assertOver(StatusRuntimeException failure, String limit) throws Exception {
    assertThat(failure.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(failure.getStatus().getDescription()).contains(limit);
    RetryInfo retry =
        StatusProto.fromThrowable(failure).getDetailsList().stream()
            .filter(detail -> detail.is(RetryInfo.class))
            .findFirst()
            .orElseThrow()
            .unpack(RetryInfo.class);
    assertThat(retry.hasRetryDelay()).isTrue();
  }

  private Received<AcquireRequest, AcquireResponse> acquire(String who, String lock) {
    return acquire(
        who, AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName(lock)).build());
  }

  private Received<AcquireRequest, AcquireResponse> acquire(String who, AcquireRequest request) {
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    secured.locks(who).acquire(request, client);
    return client;
  }

  @Test
  void leasesBeyondTheLimitAreRefusedAndOneThatIsClosedMakesRoom() throws Exception {
    // Given
    limit(of(2, MANY, MANY, MANY, MANY, MANY));
    OpenLeaseResponse first = open("greedy");
    open("greedy");
    // When
    StatusRuntimeException third = failure(() -> open("greedy"));
    StatusRuntimeException stream = acquire("greedy", "a").end().asRuntimeException();
    // Then
    assertOver(third, "'token:greedy' has its limit of 2 leases");
    assertThat(stream.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    open("other");
    secured
        .leasesNow("greedy")
        .closeLease(CloseLeaseRequest.newBuilder().setLeaseId(first.getLeaseId()).build());
    open("greedy");
  }

  @Test
  void acquisitionsThatWaitCountLikeThoseThatHold() {
    // Given
    limit(of(MANY, 2, MANY, MANY, MANY, MANY));
    var holder = acquire("greedy", "a");
    assertThat(holder.next().hasGranted()).isTrue();
    var waiter = acquire("greedy", "a");
    assertThat(waiter.next().hasQueued()).isTrue();
    // When
    var third = acquire("greedy", "b");
    // Then
    assertThat(third.end().getDescription()).contains("limit of 2 acquisitions");
    assertThat(acquire("other", "b").next().hasGranted()).isTrue();
    // And when
    waiter.cancel();
    // Then
    Awaitility.await().until(() -> acquire("greedy", "c").isServed());
  }

  @Test
  void namespaceHasALimitOfItsOwn() {
    // Given
    rights.limitNamespace("orders", 1);
    assertThat(acquire("greedy", "orders/1").next().hasGranted()).isTrue();
    // When
    var beyond = acquire("other", "orders/2");
    // Then
    assertThat(beyond.end().getDescription()).contains("namespace 'orders'", "1 acquisitions");
    assertThat(acquire("other", "pay/2").next().hasGranted()).isTrue();
  }

  @Test
  void bytesInZooKeeperHaveALimit() {
    // Given: what is said of a request is kept in each of its entries
    limit(of(MANY, MANY, 1_000, MANY, MANY, MANY));
    AcquireRequest.Builder wide = AcquireRequest.newBuilder().putMetadata("k", "v".repeat(32));
    for (int i = 0; i < 8; i++) {
      wide.addLocks(LockRequest.newBuilder().setName("l" + i));
    }
    // When
    var refused = acquire("greedy", wide.build());
    // Then
    assertThat(refused.end().getDescription()).contains("limit of 1000 bytes of entries");
    assertThat(acquire("other", wide.build()).next().hasGranted()).isTrue();
  }

  @Test
  void metadataOfARequestHasALimitWhichIsNamedWithItsField() {
    // Given
    limit(of(MANY, MANY, MANY, MANY, MANY, MANY));
    // When
    var refused =
        acquire(
            "greedy",
            AcquireRequest.newBuilder()
                .addLocks(LockRequest.newBuilder().setName("a"))
                .putMetadata("k", "v".repeat(64))
                .build());
    StatusRuntimeException update =
        failure(
            () ->
                secured
                    .locksNow("greedy")
                    .updateMetadata(
                        UpdateMetadataRequest.newBuilder()
                            .setLeaseId("0123456789abcdef0123456789abcdef")
                            .setRequestId("r")
                            .putMetadata("k", "v".repeat(64))
                            .build()));
    // Then
    assertThat(refused.end().getDescription()).contains("metadata", "at most 64 bytes");
    assertThat(update.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
  }

  @Test
  void ttlWaitAndLockDelayAreWithinTheRangeOfTheIdentity() {
    // Given
    limit(
        new Limits(
            MANY,
            MANY,
            MANY,
            MANY,
            MANY,
            MANY,
            MANY,
            MANY,
            MANY,
            64,
            java.time.Duration.ofMinutes(1),
            java.time.Duration.ofHours(1),
            java.time.Duration.ofSeconds(10)));
    // When
    StatusRuntimeException ttl =
        failure(
            () ->
                secured
                    .leasesNow("greedy")
                    .openLease(
                        OpenLeaseRequest.newBuilder()
                            .setTtl(Duration.newBuilder().setSeconds(61))
                            .build()));
    var wait =
        acquire(
            "greedy",
            AcquireRequest.newBuilder()
                .addLocks(LockRequest.newBuilder().setName("a"))
                .setWaitTimeout(Duration.newBuilder().setSeconds(3_601))
                .build());
    var waitForEver = acquire("greedy", "a");
    var delay =
        acquire(
            "greedy",
            AcquireRequest.newBuilder()
                .addLocks(LockRequest.newBuilder().setName("a"))
                .setWaitTimeout(Duration.getDefaultInstance())
                .setLockDelay(Duration.newBuilder().setSeconds(11))
                .build());
    // Then
    assertThat(ttl.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(ttl.getStatus().getDescription()).contains("ttl", "token:greedy");
    assertThat(wait.end().getDescription()).contains("wait_timeout", "token:greedy");
    assertThat(waitForEver.end().getDescription()).contains("wait_timeout", "must be set");
    assertThat(delay.end().getDescription()).contains("lock_delay", "PT10S", "token:greedy");
  }

  @Test
  void streamsAndWatchesBeyondTheLimitAreRefusedAndThoseThatEndMakeRoom() {
    // Given
    limit(of(MANY, MANY, MANY, 2, 1, MANY));
    Received<WatchRequest, WatchResponse> first = Received.all();
    secured.locks("greedy").watch(WatchRequest.getDefaultInstance(), first);
    assertThat(first.next().hasSnapshotEnd()).isTrue();
    // When
    Received<WatchRequest, WatchResponse> second = Received.all();
    secured.locks("greedy").watch(WatchRequest.getDefaultInstance(), second);
    // Then
    assertThat(second.end().getDescription()).contains("1 watches");
    // And when
    assertThat(acquire("greedy", "a").next().hasGranted()).isTrue();
    // Then
    assertThat(acquire("greedy", "b").end().getDescription()).contains("2 open streams");
    assertThat(acquire("other", "b").next().hasGranted()).isTrue();
    first.cancel();
    Awaitility.await()
        .until(
            () -> {
              Received<WatchRequest, WatchResponse> third = Received.all();
              secured.locks("greedy").watch(WatchRequest.getDefaultInstance(), third);
              return third.isServed();
            });
  }

  @Test
  void requestsBeyondTheRateAreToldWhenToComeAgainAndOthersAreServed() throws Exception {
    // Given
    limit(of(MANY, MANY, MANY, MANY, MANY, 1));
    GetLockRequest request = GetLockRequest.newBuilder().setName("a").build();
    // When
    StatusRuntimeException over =
        failure(
            () -> {
              for (int i = 0; i < 100; i++) {
                secured.locksNow("greedy").getLock(request);
              }
            });
    // Then
    assertOver(over, "1 requests a second");
    for (int i = 0; i < 100; i++) {
      secured.locksNow("other").getLock(request);
    }
  }

  private void assertThatItIsCounted(Runnable request) {
    assertThat(
            failure(
                    () -> {
                      for (int i = 0; i < 100; i++) {
                        request.run();
                      }
                    })
                .getStatus()
                .getDescription())
        .contains("1 requests a second");
  }

  @Test
  void freezeCountsAsARequest() {
    limit(of(MANY, MANY, MANY, MANY, MANY, 1));
    assertThatItIsCounted(
        () ->
            secured
                .admin("greedy")
                .freeze(FreezeRequest.newBuilder().setPrefix("a/").setReason("why").build()));
  }

  @Test
  void openingASessionCountsAsARequest() {
    limit(of(MANY, MANY, MANY, MANY, MANY, 1));
    assertThatItIsCounted(
        () -> {
          Received<SessionRequest, SessionResponse> session = Received.all();
          secured
              .locks("greedy")
              .session(session)
              .onNext(
                  SessionRequest.newBuilder().setOpen(OpenSession.getDefaultInstance()).build());
          if (!session.isServed()) {
            throw session.end().asRuntimeException();
          }
          session.cancel();
        });
  }

  @Test
  void releaseOfALeaseThatMustBeLookedForCountsAsARequest() {
    limit(of(MANY, MANY, MANY, MANY, MANY, 1));
    ReleaseRequest release =
        ReleaseRequest.newBuilder()
            .setLeaseId("0123456789abcdef0123456789abcdef")
            .setRequestId("r")
            .build();
    assertThatItIsCounted(
        () ->
            assertThat(failure(() -> secured.locksNow("greedy").release(release)))
                .satisfies(
                    refused -> {
                      if (refused.getStatus().getCode() != Code.NOT_FOUND) {
                        throw refused;
                      }
                    }));
  }
}
