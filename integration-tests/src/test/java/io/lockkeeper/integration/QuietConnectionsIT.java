package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Clients that say little, and clients that say nothing more because their host is gone. */
final class QuietConnectionsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Rig rig = Rig.shared();

  @Test
  void leaseOfAVanishedHostEndsWithItsTtl() {
    // Given
    ByteProxy network = ByteProxy.to(rig.server().port());
    SessionStream vanishing =
        SessionStream.open(rig.server().connect(network.port()), Duration.ofSeconds(2));
    vanishing.awaitOpened();
    vanishing.acquire("quiet/lease", "held");
    vanishing.await("held", EventCase.GRANTED);
    Asking waiter = Asking.forLock(rig.connect(), "quiet/lease");
    waiter.await(EventCase.QUEUED);
    long renewedNanos = System.nanoTime();
    vanishing.keepAliveAnswered(1);

    // When
    network.blackhole();

    // Then
    long grantedNanos = waiter.await(EventCase.GRANTED).nanos();
    assertThat(Duration.ofNanos(grantedNanos - renewedNanos)).isGreaterThan(Duration.ofSeconds(2));
    waiter.hangUp();
    network.close();
  }

  @Test
  void connectionThatBreaksFreesItsStreams() {
    // Given
    ByteProxy network = ByteProxy.to(rig.server().port());
    Asking vanishing = Asking.forLock(rig.server().connect(network.port()), "quiet/cut");
    vanishing.awaitGrant();
    Asking waiter = Asking.forLock(rig.connect(), "quiet/cut");
    waiter.await(EventCase.QUEUED);

    // When
    network.close();

    // Then
    waiter.awaitGrant();
    waiter.hangUp();
  }

  /** Both need half a minute of silence: a server that allows no pings complains of the third. */
  @Test
  void silentStreamIsFreedByTheServersPingsAndAPingingClientIsLeftAlone() {
    // Given
    ByteProxy silent = ByteProxy.to(rig.server().port());
    Asking vanishing = Asking.forLock(rig.server().connect(silent.port()), "quiet/stream");
    vanishing.awaitGrant();
    Asking waiter = Asking.forLock(rig.connect(), "quiet/stream");
    waiter.await(EventCase.QUEUED);
    ManagedChannel idle = pinging(rig.server().port());
    ManagedChannel busy = pinging(rig.server().port());
    Asking held = Asking.forLock(busy, "quiet/busy");
    held.awaitGrant();
    LockServiceGrpc.newBlockingStub(idle).getLock(GetLockRequest.newBuilder().setName("x").build());
    long startNanos = System.nanoTime();

    // When
    silent.blackhole();

    // Then
    waiter.await(EventCase.GRANTED, PATIENCE);
    Awaitility.await()
        .atMost(PATIENCE)
        .until(() -> System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(35));
    assertThat(held.events().end()).isEmpty();
    assertThat(idle.getState(false)).isEqualTo(ConnectivityState.READY);
    assertThat(busy.getState(false)).isEqualTo(ConnectivityState.READY);
    held.hangUp();
    waiter.hangUp();
    idle.shutdownNow();
    busy.shutdownNow();
    silent.close();
  }

  private static ManagedChannel pinging(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port)
        .usePlaintext()
        .keepAliveTime(10, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true)
        .build();
  }
}
