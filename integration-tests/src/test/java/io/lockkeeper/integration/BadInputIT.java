package io.lockkeeper.integration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.Duration;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc.LeaseServiceBlockingStub;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.ReleaseRequest;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What nobody should send gets a clear answer from a whole server, and disturbs nobody. */
@Tag("smoke")
final class BadInputIT {

  private static final String UNKNOWN_LEASE = "0123456789abcdef0123456789abcdef";

  private final ManagedChannel channel = Rig.shared().connect();
  private final LockServiceBlockingStub locks = LockServiceGrpc.newBlockingStub(channel);
  private final LeaseServiceBlockingStub leases = LeaseServiceGrpc.newBlockingStub(channel);

  static Stream<Arguments> badNames() {
    return Stream.of(
        Arguments.of("empty", ""),
        Arguments.of("513 bytes", "x".repeat(513)),
        Arguments.of("513 bytes in 171 characters", "\u20ac".repeat(171)),
        Arguments.of("control character", "orders/\u0001"),
        Arguments.of("line feed", "orders/4\n2"),
        Arguments.of("NUL", "orders/\u0000"),
        Arguments.of("..", "orders/../42"),
        Arguments.of(".", "./orders"),
        Arguments.of("empty segment", "orders//42"),
        Arguments.of("leading slash", "/orders"),
        Arguments.of("trailing slash", "orders/"),
        Arguments.of("17 segments", String.join("/", "abcdefghijklmnopq".split("(?!^)", -1))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badNames")
  void badNameIsRefusedByFieldName(String what, String name) {
    // When
    Status status = Asking.forLock(channel, name).awaitEnd();

    // Then
    assertThat(status.getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(status.getDescription()).isNotBlank();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badNames")
  void badNameIsRefusedWhenLookedAt(String what, String name) {
    // When
    StatusRuntimeException refusal =
        refusalOf(() -> locks.getLock(GetLockRequest.newBuilder().setName(name).build()));

    // Then
    assertThat(refusal.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(StatusProto.fromThrowable(refusal).getDetailsList())
        .anyMatch(detail -> detail.getTypeUrl().endsWith("google.rpc.BadRequest"));
  }

  static Stream<Arguments> badRequests() {
    AcquireRequest.Builder good = Asking.request("bad/request");
    return Stream.of(
        Arguments.of("no lock", AcquireRequest.getDefaultInstance(), Code.INVALID_ARGUMENT),
        Arguments.of(
            "negative wait",
            good.clone().setWaitTimeout(seconds(-1)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "absurd wait",
            good.clone().setWaitTimeout(seconds(315_576_000_000L)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "malformed wait",
            good.clone().setWaitTimeout(Duration.newBuilder().setSeconds(1).setNanos(-5)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "zero position interval",
            good.clone().setPositionInterval(seconds(0)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "5 KiB of metadata",
            good.clone().putMetadata("key", "x".repeat(5 * 1024)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "metadata without a key",
            good.clone().putMetadata("", "value").build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "257 bytes of holder",
            good.clone().setHolder("x".repeat(257)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "129 bytes of request id",
            good.clone().setRequestId("x".repeat(129)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "malformed lease", good.clone().setLeaseId("../x").build(), Code.INVALID_ARGUMENT),
        Arguments.of(
            "unknown lease", good.clone().setLeaseId(UNKNOWN_LEASE).build(), Code.NOT_FOUND),
        Arguments.of(
            "the same lock twice",
            good.clone().addLocks(LockRequest.newBuilder().setName("bad/request")).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "more permits than there are",
            withMode(LockMode.LOCK_MODE_PERMITS, lock -> lock.setPermits(4).setLimit(3)),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "a limit beyond the largest",
            withMode(LockMode.LOCK_MODE_PERMITS, lock -> lock.setPermits(1).setLimit(1_000_001)),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "permits whose limit nobody knows",
            withMode(LockMode.LOCK_MODE_PERMITS, lock -> lock.setPermits(1)),
            Code.FAILED_PRECONDITION),
        Arguments.of(
            "permits of a mutex",
            withMode(LockMode.LOCK_MODE_EXCLUSIVE, lock -> lock.setPermits(1)),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "a kind that nobody has added",
            withMode(LockMode.LOCK_MODE_CUSTOM, lock -> lock.setCustom("no-such-kind")),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "a kind that leaves its directory",
            withMode(LockMode.LOCK_MODE_CUSTOM, lock -> lock.setCustom("../../claims")),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "65 locks",
            AcquireRequest.newBuilder()
                .addAllLocks(
                    IntStream.range(0, 65)
                        .mapToObj(i -> LockRequest.newBuilder().setName("bad/" + i).build())
                        .toList())
                .build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "257 bytes of owner",
            good.clone().setOwner("x".repeat(257)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "no time to hold it",
            good.clone().setMaxHold(seconds(0)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "a lock delay of 2 h",
            good.clone().setLockDelay(seconds(7_200)).build(),
            Code.INVALID_ARGUMENT),
        Arguments.of(
            "a lock delay of half a millisecond",
            good.clone().setLockDelay(Duration.newBuilder().setNanos(500_000)).build(),
            Code.INVALID_ARGUMENT));
  }

  private static AcquireRequest withMode(LockMode mode, UnaryOperator<LockRequest.Builder> more) {
    LockRequest.Builder lock = LockRequest.newBuilder().setName("bad/request").setMode(mode);
    return AcquireRequest.newBuilder().addLocks(more.apply(lock)).build();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badRequests")
  void badRequestIsRefusedAndLeavesTheLockFree(String what, AcquireRequest request, Code expected) {
    // When
    Status status = Asking.with(channel, request).awaitEnd();

    // Then
    assertThat(status.getCode()).isEqualTo(expected);
    assertThat(status.getDescription()).isNotBlank();
    assertThat(tryAcquire("bad/request")).isEqualTo(EventCase.GRANTED);
  }

  static Stream<Arguments> badTtls() {
    return Stream.of(
        Arguments.of("zero", seconds(0)),
        Arguments.of("negative", seconds(-5)),
        Arguments.of("1 s", seconds(1)),
        Arguments.of("2 h", seconds(7200)),
        Arguments.of("absurd", seconds(Long.MAX_VALUE)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badTtls")
  void badTtlIsRefused(String what, Duration ttl) {
    // When
    StatusRuntimeException refusal =
        refusalOf(() -> leases.openLease(OpenLeaseRequest.newBuilder().setTtl(ttl).build()));

    // Then
    assertThat(refusal.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(refusal.getStatus().getDescription()).contains("ttl");
  }

  @Test
  void sameRequestIdWithAnotherLockIsRefusedAndTheFirstIsKept() {
    // Given
    String lease = leases.openLease(OpenLeaseRequest.getDefaultInstance()).getLeaseId();
    Asking first = Asking.with(channel, Asking.under(lease, "once", "bad/first"));
    long token = first.awaitToken();

    // When
    Status status = Asking.with(channel, Asking.under(lease, "once", "bad/second")).awaitEnd();

    // Then
    assertThat(status.getCode()).isEqualTo(Code.FAILED_PRECONDITION);
    assertThat(Asking.holderTokens(channel, "bad/first")).containsExactly(token);
    assertThat(Asking.holderTokens(channel, "bad/second")).isEmpty();
    leases.closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease).build());
  }

  @Test
  void releaseByAStrangerReleasesNothing() {
    // Given
    OpenLeaseResponse owner = leases.openLease(OpenLeaseRequest.getDefaultInstance());
    OpenLeaseResponse stranger = leases.openLease(OpenLeaseRequest.getDefaultInstance());
    long token =
        Asking.with(channel, Asking.under(owner.getLeaseId(), "mine", "bad/theft")).awaitToken();

    // When
    List<Code> refusals =
        List.of(
            release(stranger.getLeaseId(), "mine", 0),
            release(UNKNOWN_LEASE, "mine", 0),
            release(owner.getLeaseId(), "never-seen", 0),
            release(owner.getLeaseId(), "mine", token + 1));

    // Then
    assertThat(refusals)
        .containsExactly(Code.NOT_FOUND, Code.NOT_FOUND, Code.NOT_FOUND, Code.FAILED_PRECONDITION);
    assertThat(Asking.holderTokens(channel, "bad/theft")).containsExactly(token);
    leases.closeLease(CloseLeaseRequest.newBuilder().setLeaseId(owner.getLeaseId()).build());
    leases.closeLease(CloseLeaseRequest.newBuilder().setLeaseId(stranger.getLeaseId()).build());
  }

  @Test
  void refusedRequestOnASessionLeavesItsStreamAndItsLocks() {
    // Given
    SessionStream session = SessionStream.open(channel, java.time.Duration.ofSeconds(10));
    session.awaitOpened();
    session.acquire("bad/held", "good");
    session.await("good", EventCase.GRANTED);

    // When
    session.acquire("bad//name", "bad");

    // Then
    assertThat(session.await("refused", r -> r.hasRefused()).value().getRefused())
        .matches(refused -> refused.getAcquire().equals("bad"))
        .matches(refused -> refused.getCode() == Code.INVALID_ARGUMENT.value())
        .matches(refused -> refused.getField().contains("name"));
    session.keepAliveAnswered(1);
    assertThat(Asking.holderTokens(channel, "bad/held")).hasSize(1);
    session.close();
  }

  @Test
  void requestOverTheMessageLimitIsRefusedAndTheConnectionLives() {
    // When
    Status status =
        Asking.with(
                channel, Asking.request("bad/size").putMetadata("k", "x".repeat(80_000)).build())
            .awaitEnd();

    // Then
    assertThat(status.getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(tryAcquire("bad/size")).isEqualTo(EventCase.GRANTED);
  }

  @Test
  void headersOverTheLimitAreRefusedAndTheServerLives() {
    // Given
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("x-large", Metadata.ASCII_STRING_MARSHALLER), "x".repeat(20_000));
    LockServiceBlockingStub large =
        locks.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));

    // When
    StatusRuntimeException refusal =
        refusalOf(() -> large.getLock(GetLockRequest.newBuilder().setName("bad/headers").build()));

    // Then
    assertThat(refusal.getStatus().getCode()).isNotEqualTo(Code.OK);
    assertThat(tryAcquire("bad/headers")).isEqualTo(EventCase.GRANTED);
  }

  @Test
  void longestAndOddestGoodNamesAreGranted() {
    // Given
    List<String> names =
        List.of(
            "x".repeat(512),
            "%2e%2e",
            "a b",
            "\u20ac/\ud83d\udd12",
            "a.b",
            "...",
            "abcdefghijklmnop".replaceAll("(?<=.)(?=.)", "/"));

    // Then
    assertThat(names).allSatisfy(name -> assertThat(tryAcquire(name)).isEqualTo(EventCase.GRANTED));
    assertThat(names.get(0).getBytes(UTF_8)).hasSize(512);
  }

  private EventCase tryAcquire(String lock) {
    Asking asking =
        Asking.with(channel, Asking.request(lock, java.time.Duration.ofSeconds(10)).build());
    EventCase event =
        asking
            .events()
            .await("grant or refusal", r -> r.hasGranted() || r.hasNotAcquired())
            .value()
            .getEventCase();
    asking.release();
    asking.awaitEnd();
    return event;
  }

  private Code release(String lease, String requestId, long token) {
    return refusalOf(
            () ->
                locks.release(
                    ReleaseRequest.newBuilder()
                        .setLeaseId(lease)
                        .setRequestId(requestId)
                        .setFencingToken(token)
                        .build()))
        .getStatus()
        .getCode();
  }

  private static StatusRuntimeException refusalOf(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    return catchThrowableOfType(StatusRuntimeException.class, call);
  }

  private static Duration seconds(long seconds) {
    return Duration.newBuilder().setSeconds(seconds).build();
  }
}
