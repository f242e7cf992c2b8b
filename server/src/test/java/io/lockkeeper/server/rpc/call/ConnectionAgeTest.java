package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.rpc.GrpcEndpoint;
import io.lockkeeper.server.rpc.GrpcSettings;
import io.lockkeeper.server.rpc.Received;
import io.lockkeeper.server.rpc.SessionMessages;
import io.lockkeeper.server.rpc.call.ConnectionAge.AgedConnection;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ConnectionAgeTest {

  private static final Duration HOUR = Duration.ofHours(1);

  @Test
  void sessionsLeaveAtMomentsThatAreSpreadByATenthBeforeTheTransportLetsGo() {
    // Given
    ConnectionAge age = new ConnectionAge(Optional.of(HOUR), new Random(42));
    // When
    long[] moments =
        IntStream.range(0, 1_000).mapToLong(i -> age.opened(0).orElseThrow().first()).toArray();
    // Then
    long earliestTransport =
        age.ofTransport().orElseThrow().multipliedBy(9).dividedBy(10).toNanos();
    assertThat(LongStream.of(moments))
        .allMatch(moment -> moment >= 0.9 * HOUR.toNanos() && moment <= 1.1 * HOUR.toNanos())
        .allMatch(moment -> moment < earliestTransport);
    assertThat(LongStream.of(moments).map(moment -> moment / 60_000_000_000L).distinct().boxed())
        .hasSizeGreaterThan(10);
  }

  @Test
  void streamLeavesAtTheNextMomentThatIsMeantForIt() {
    // Given
    AgedConnection connection = new AgedConnection(100, 150);
    // Then
    assertThat(connection.untilLeaving(true, 40)).isEqualTo(60);
    assertThat(connection.untilLeaving(true, 120)).isEqualTo(30);
    assertThat(connection.untilLeaving(true, 150)).isZero();
    assertThat(connection.untilLeaving(false, 40)).isEqualTo(110);
    assertThat(connection.notAfter(60).untilLeaving(true, 40)).isEqualTo(20);
    assertThat(connection.notAfter(120)).isEqualTo(new AgedConnection(100, 120));
    assertThat(connection.notAfter(200)).isEqualTo(connection);
  }

  @Test
  void withoutAnAgeNothingLeaves() {
    // Given
    ConnectionAge age = new ConnectionAge(Optional.empty(), new Random(42));
    // Then
    assertThat(age.opened(0)).isEmpty();
    assertThat(age.ofTransport()).isEmpty();
  }

  @Test
  void oldConnectionIsLeftByAllStreamsButThoseThatAreLeases() throws IOException {
    // Given
    FakeCoordinator coordinator = new FakeCoordinator();
    GrpcEndpoint endpoint =
        new GrpcEndpoint(
            new GrpcSettings(
                "127.0.0.1",
                0,
                Optional.empty(),
                "c-1",
                GrpcLimits.DEFAULTS,
                Optional.of(Duration.ofSeconds(1)),
                false),
            coordinator);
    endpoint.start();
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", endpoint.port()).usePlaintext().build();
    LockServiceGrpc.LockServiceStub locks = LockServiceGrpc.newStub(channel);
    Received<AcquireRequest, AcquireResponse> lease = Received.all();
    Received<WatchRequest, WatchResponse> watch = Received.all();
    Received<SessionRequest, SessionResponse> session = Received.all();
    // When
    locks.acquire(
        AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName("a")).build(), lease);
    locks.watch(WatchRequest.getDefaultInstance(), watch);
    StreamObserver<SessionRequest> requests = locks.session(session);
    requests.onNext(SessionMessages.resuming());
    coordinator.attaches.next().attached().complete(ViewSamples.attached());
    // Then
    assertThat(session.next().hasOpened()).isTrue();
    assertThat(session.next().getGoingAway().getMessage()).contains("maximum age");
    assertThat(session.end().isOk()).isTrue();
    assertThat(watch.end().getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(lease.hasEnded()).isFalse();
    assertThat(coordinator.acquires.next().closed().isEmpty()).isTrue();
    assertThat(endpoint.stats().sentAway.sum()).isOne();
    channel.shutdownNow();
    endpoint.stop(Duration.ZERO);
  }
}
