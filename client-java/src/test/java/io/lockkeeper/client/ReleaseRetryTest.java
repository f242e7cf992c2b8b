package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.testing.InMemoryLockkeeper;
import io.lockkeeper.client.testing.ManualClock;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A release is sent until it is certain, whatever the server has against it meanwhile. */
class ReleaseRetryTest {

  private static final String LOCK = "orders/42";
  private static final Duration LONG = Duration.ofSeconds(20);

  private final ManualClock clock = new ManualClock();
  private InMemoryLockkeeper server;
  private LockkeeperClient client;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start(clock);
    client = server.clientBuilder().callbackExecutor(Runnable::run).build();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private LockHandle hold(String lock) {
    CompletableFuture<LockHandle> held = client.acquire(LockRequest.of(lock));
    clock.settle();
    return held.join();
  }

  @Test
  void releaseThatAnOverloadedServerRefusesIsRepeatedUntilItIsDone() {
    // Given
    LockHandle held = hold(LOCK);
    server.overload(true);
    CompletableFuture<Void> released = held.releaseAsync();
    clock.advance(LONG);
    boolean certainTooEarly = released.isDone();
    // When
    server.overload(false);
    clock.advance(LONG);
    // Then
    assertThat(certainTooEarly).isFalse();
    assertThat(released).isCompleted();
    assertThat(server.holderToken(LOCK)).isEmpty();
  }

  @Test
  void releaseOfAnUnknownGrantIsRepeatedToo() {
    // Given
    LockHandle held = hold(LOCK);
    ManagedChannel channel = server.connect();
    AcquireRequest.Builder ghost =
        AcquireRequest.newBuilder().setLeaseId(server.leaseIds().get(0)).setRequestId("ghost");
    ghost.addLocksBuilder().setName("orders/43");
    server.overload(true);
    LockServiceGrpc.newStub(channel).acquire(ghost.build(), new Unheard());
    clock.advance(LONG);
    boolean heldMeanwhile = server.holderToken("orders/43").isPresent();
    // When
    server.overload(false);
    clock.advance(LONG);
    // Then
    assertThat(heldMeanwhile).isTrue();
    assertThat(server.holderToken("orders/43")).isEmpty();
    assertThat(held.isValid()).isTrue();
    channel.shutdownNow();
  }

  private static final class Unheard implements StreamObserver<AcquireResponse> {
    @Override
    public void onNext(AcquireResponse event) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
  }
}
