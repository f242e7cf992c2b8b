package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.Limit;
import io.lockkeeper.server.rpc.call.ServerLimits;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls and connections beyond the limits of the server, over a real transport. */
class AdmissionTest {

  private static final int OF_ADDRESS = 16;

  private final GrpcEndpoint endpoint =
      new GrpcEndpoint(
          new GrpcSettings(
              "127.0.0.1", 0, Optional.empty(), "c-1", limits(), Optional.empty(), false),
          new FakeCoordinator());
  private ManagedChannel channel;

  private static GrpcLimits limits() {
    GrpcLimits usual = InProcess.limits(Duration.ofSeconds(1));
    return new GrpcLimits(
        usual.maxMessageBytes(),
        usual.maxMetadataBytes(),
        usual.maxCallsPerConnection(),
        usual.streamMessages(),
        usual.sessionMessages(),
        usual.streamBytes(),
        usual.sessionUnanswered(),
        usual.sessionWatches(),
        usual.openTimeout(),
        usual.healthInterval(),
        usual.resumeAfter(),
        usual.defaultTtl(),
        new ServerLimits(4, 2, 2 * OF_ADDRESS, OF_ADDRESS, 1 << 20, 1 << 20));
  }

  @BeforeEach
  void start() throws Exception {
    endpoint.start();
    channel = connect();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    endpoint.stop(Duration.ZERO);
  }

  private ManagedChannel connect() {
    return NettyChannelBuilder.forAddress("127.0.0.1", endpoint.port()).usePlaintext().build();
  }

  private Received<WatchRequest, WatchResponse> watch() {
    Received<WatchRequest, WatchResponse> watch = Received.all();
    LockServiceGrpc.newStub(channel).watch(WatchRequest.getDefaultInstance(), watch);
    return watch;
  }

  @Test
  void callBeyondTheLimitIsRefusedWithItsValueAndWhenToComeAgain() {
    // Given
    List<Received<WatchRequest, WatchResponse>> watches =
        IntStream.range(0, OF_ADDRESS).mapToObj(i -> watch()).toList();
    await().until(() -> endpoint.calls() == OF_ADDRESS);
    // When
    Iterator<WatchResponse> refused =
        LockServiceGrpc.newBlockingStub(channel).watch(WatchRequest.getDefaultInstance());
    // Then
    StatusRuntimeException end = assertThrows(StatusRuntimeException.class, refused::hasNext);
    assertThat(end.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(end.getStatus().getDescription()).contains("which is " + OF_ADDRESS);
    com.google.rpc.Status status = StatusProto.fromThrowable(end);
    assertThat(status.getDetailsList()).anyMatch(detail -> detail.is(RetryInfo.class));
    assertThat(status.getDetailsList())
        .filteredOn(detail -> detail.is(ErrorInfo.class))
        .allSatisfy(
            detail ->
                assertThat(detail.unpack(ErrorInfo.class).getReason()).isEqualTo("LIMIT_REACHED"));
    assertThat(endpoint.refused(Limit.ADDRESS_CALLS)).isEqualTo(1);
    assertThat(watches).noneMatch(Received::hasEnded);
  }

  @Test
  void healthIsToldThoughClientsHaveAllTheirCalls() {
    // Given
    IntStream.range(0, OF_ADDRESS).forEach(i -> watch());
    await().until(() -> endpoint.calls() == OF_ADDRESS);
    // When
    var health = HealthGrpc.newBlockingStub(channel).check(HealthCheckRequest.getDefaultInstance());
    // Then
    assertThat(health.getStatus()).isNotEqualTo(ServingStatus.UNKNOWN);
    await().until(() -> endpoint.calls() == OF_ADDRESS);
  }

  @Test
  void callThatSendsNothingEndsAfterItsTime() throws Exception {
    // Given
    CompletableFuture<Status> end = new CompletableFuture<>();
    ClientCall<?, SessionResponse> call =
        channel.newCall(LockServiceGrpc.getSessionMethod(), CallOptions.DEFAULT);
    // When
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status ended, Metadata trailers) {
            end.complete(ended);
          }
        },
        new Metadata());
    call.request(1);
    // Then
    Status status = end.get(60, TimeUnit.SECONDS);
    assertThat(status.getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(status.getDescription()).contains("1000 ms");
    assertThat(endpoint.refused(Limit.FIRST_MESSAGE)).isEqualTo(1);
    await().until(() -> endpoint.calls() == 0);
  }
}
