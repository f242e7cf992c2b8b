package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.testing.FakeCoordinator.Acquired;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrpcEndpointTest {

  private static final GetLockRequest LOCK = GetLockRequest.newBuilder().setName("a").build();

  private final FakeCoordinator coordinator = new FakeCoordinator();
  private Optional<GrpcEndpoint> running = Optional.empty();
  private Optional<ManagedChannel> open = Optional.empty();

  @AfterEach
  void stop() {
    open.ifPresent(ManagedChannel::shutdownNow);
    running.ifPresent(endpoint -> endpoint.stop(Duration.ZERO));
  }

  private GrpcEndpoint start(GrpcSettings settings) throws IOException {
    GrpcEndpoint endpoint = new GrpcEndpoint(settings, coordinator);
    running = Optional.of(endpoint);
    endpoint.start();
    return endpoint;
  }

  private ManagedChannel plaintext() throws IOException {
    return plaintext(false);
  }

  private ManagedChannel plaintext(boolean traced) throws IOException {
    int port =
        start(
                new GrpcSettings(
                    "127.0.0.1",
                    0,
                    Optional.empty(),
                    "c-1",
                    GrpcLimits.DEFAULTS,
                    Optional.empty(),
                    traced))
            .port();
    return opened(
        Grpc.newChannelBuilderForAddress("localhost", port, InsecureChannelCredentials.create())
            .build());
  }

  private ManagedChannel opened(ManagedChannel channel) {
    open.ifPresent(ManagedChannel::shutdownNow);
    open = Optional.of(channel);
    return channel;
  }

  private void assertThatItServes(ManagedChannel channel) {
    Received<GetLockRequest, GetLockResponse> client = Received.all();
    LockServiceGrpc.newStub(channel).getLock(LOCK, client);
    coordinator.getLocks.next().answer().complete(ViewSamples.lock("a"));
    assertThat(client.next().getLock().getName()).isEqualTo("a");
  }

  private static StatusRuntimeException refusedOn(ManagedChannel channel) {
    return catchThrowableOfType(
        StatusRuntimeException.class,
        () ->
            LockServiceGrpc.newBlockingStub(channel)
                .withDeadlineAfter(Duration.ofSeconds(60))
                .getLock(LOCK));
  }

  @Test
  void portInUseIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      // Given
      int port = taken.getLocalPort();
      GrpcEndpoint endpoint =
          new GrpcEndpoint(
              GrpcSettings.of("127.0.0.1", port, Optional.empty(), "c-1"), coordinator);
      // Then
      assertThatThrownBy(endpoint::start)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cannot listen for gRPC on 127.0.0.1:" + port)
          .hasMessageContaining("in use");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8_500, 12_000, 20_000})
  void callWithTooLargeHeadersIsRejectedAndTheOthersOnItsConnectionGoOn(int bytes)
      throws IOException {
    // Given: another call on the same connection
    ManagedChannel channel = plaintext();
    Received<AcquireRequest, AcquireResponse> other = Received.all();
    LockServiceGrpc.newStub(channel)
        .acquire(
            AcquireRequest.newBuilder()
                .addLocks(
                    LockRequest.newBuilder().setName("a").setMode(LockMode.LOCK_MODE_EXCLUSIVE))
                .build(),
            other);
    Acquired acquired = coordinator.acquires.next();
    Metadata large = new Metadata();
    large.put(Metadata.Key.of("x-large", Metadata.ASCII_STRING_MARSHALLER), "x".repeat(bytes));
    // When
    StatusRuntimeException refusal =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                LockServiceGrpc.newBlockingStub(channel)
                    .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(large))
                    .withDeadlineAfter(Duration.ofSeconds(60))
                    .getLock(LOCK));
    // Then
    assertThat(refusal.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(refusal.getStatus().getDescription()).contains("headers", "the limit is 8192");
    assertThatItServes(channel);
    acquired.listener().onNotice("req-1", 1, 1, new Notice.Released());
    assertThat(other.next().hasReleased()).isTrue();
  }

  @Test
  void endpointThatCannotStartListensNoMore() throws Exception {
    // Given: one with the same name, which is taken within a process
    start(GrpcSettings.of("127.0.0.1", 0, Optional.empty(), "c-1"));
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      port = free.getLocalPort();
    }
    GrpcEndpoint second =
        new GrpcEndpoint(GrpcSettings.of("127.0.0.1", port, Optional.empty(), "c-1"), coordinator);
    // When
    assertThatThrownBy(second::start).isInstanceOf(IOException.class);
    // Then: its server has ended, and not only its threads
    Awaitility.await()
        .untilAsserted(() -> assertThatThrownBy(second::port).hasMessageContaining("terminated"));
    Awaitility.await()
        .ignoreException(BindException.class)
        .untilAsserted(() -> new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1")).close());
    assertThatItServes(
        opened(
            Grpc.newChannelBuilderForAddress(
                    "localhost", running.orElseThrow().port(), InsecureChannelCredentials.create())
                .build()));
  }

  @Test
  void unknownHostIsNamed() {
    // Given
    GrpcEndpoint endpoint =
        new GrpcEndpoint(
            GrpcSettings.of("no-such-host.invalid", 1, Optional.empty(), "c-1"), coordinator);
    // Then
    assertThatThrownBy(endpoint::start).hasMessageContaining("no-such-host.invalid:1: unknown");
  }

  @Test
  void largestPermittedRequestFits() throws Exception {
    // Given
    AcquireRequest.Builder request = AcquireRequest.newBuilder();
    for (int i = 0; i < 64; i++) {
      String name = (i + "-" + "x".repeat(512)).substring(0, 512);
      request.addLocks(
          LockRequest.newBuilder().setName(name).setMode(LockMode.LOCK_MODE_EXCLUSIVE));
    }
    request.putMetadata("k", "v".repeat(4_095)).setHolder("h".repeat(256));
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    // When
    LockServiceGrpc.newStub(plaintext()).acquire(request.build(), client);
    // Then
    assertThat(coordinator.acquires.next().command().locks()).hasSize(64);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void traceContextOfACallIsPartOfItsRequestWhereThatIsTraced(boolean traced) throws Exception {
    // Given
    String context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER), context);
    ManagedChannel channel = plaintext(traced);
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    // When
    LockServiceGrpc.newStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .acquire(
            AcquireRequest.newBuilder()
                .addLocks(LockRequest.newBuilder().setName("a"))
                .putMetadata("k", "v")
                .build(),
            client);
    // Then
    assertThat(coordinator.acquires.next().command().metadata())
        .isEqualTo(traced ? Map.of("k", "v", "traceparent", context) : Map.of("k", "v"));
  }

  @Test
  void requestBeyondTheLimitIsRefusedAndTheConnectionServesOn() throws Exception {
    // Given
    ManagedChannel channel = plaintext();
    Received<AcquireRequest, AcquireResponse> client = Received.all();
    // When
    LockServiceGrpc.newStub(channel)
        .acquire(AcquireRequest.newBuilder().setHolder("h".repeat(64 * 1024)).build(), client);
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThatItServes(channel);
  }

  @Test
  void bytesThatAreNoRequestAreRefusedAndTheConnectionServesOn() throws Exception {
    // Given
    ManagedChannel channel = plaintext();
    byte[] malformed = {10, 100, 1};
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                ClientCalls.blockingUnaryCall(
                    channel,
                    LockServiceGrpc.getGetLockMethod().toBuilder(
                            RawBytes.MARSHALLER, RawBytes.MARSHALLER)
                        .build(),
                    CallOptions.DEFAULT,
                    malformed));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThatItServes(channel);
  }

  @Test
  void headersBeyondTheLimitAreRefused() throws Exception {
    // Given
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("padding", Metadata.ASCII_STRING_MARSHALLER), "p".repeat(9 * 1024));
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                LockServiceGrpc.newBlockingStub(plaintext())
                    .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                    .withDeadlineAfter(Duration.ofSeconds(60))
                    .getLock(LOCK));
    // Then
    assertThat(refused.getStatus().getCode()).isNotEqualTo(Code.DEADLINE_EXCEEDED);
    assertThat(coordinator.getLocks.isEmpty()).isTrue();
  }

  @Test
  void holderThatIsNotNamedIsThePeersAddress() throws Exception {
    // When
    LockServiceGrpc.newStub(plaintext())
        .acquire(
            AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName("a")).build(),
            Received.all());
    // Then
    assertThat(coordinator.acquires.next().command().holder()).matches("127\\.0\\.0\\.1:\\d+");
  }

  @Test
  void stopTellsSessionsAndEndsWithinItsBound() throws Exception {
    // Given
    Received<SessionRequest, SessionResponse> session = Received.all();
    LockServiceGrpc.newStub(plaintext())
        .session(session)
        .onNext(
            SessionRequest.newBuilder()
                .setOpen(
                    OpenSession.newBuilder()
                        .setLeaseId(ViewSamples.LEASE.toString())
                        .setLeaseSecret("s3cret"))
                .build());
    Attached attached = coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    assertThat(session.next().hasOpened()).isTrue();
    // When
    running.orElseThrow().stop(Duration.ofSeconds(5));
    // Then
    assertThat(session.next().getGoingAway().getMessage()).contains("c-1");
    assertThat(session.end().isOk()).isTrue();
    assertThat(refusedOn(open.orElseThrow()).getStatus().getCode()).isEqualTo(Code.UNAVAILABLE);
  }

  @Test
  void watcherOfHealthIsToldAndDoesNotHoldUpTheStop() throws Exception {
    // Given
    Received<HealthCheckRequest, HealthCheckResponse> watcher = Received.all();
    HealthGrpc.newStub(plaintext()).watch(HealthCheckRequest.getDefaultInstance(), watcher);
    assertThat(watcher.next().getStatus()).isEqualTo(ServingStatus.SERVING);
    // When: an hour of grace is not used up, or this test never ends
    running.orElseThrow().stop(Duration.ofHours(1));
    // Then
    assertThat(watcher.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(watcher.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }

  @Test
  void stopDoesNotWaitForCallsThatAreNeverAnswered() throws Exception {
    // Given
    Received<GetLockRequest, GetLockResponse> client = Received.all();
    LockServiceGrpc.newStub(plaintext()).getLock(LOCK, client);
    coordinator.getLocks.next();
    // When
    running.orElseThrow().stop(Duration.ofMillis(50));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }
}
