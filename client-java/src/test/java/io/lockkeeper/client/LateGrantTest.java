package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.testing.InMemoryLockkeeper;
import io.lockkeeper.client.testing.ManualClock;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A grant under the client's lease that nobody waits for does not stay. */
class LateGrantTest {

  @Test
  void grantOfARequestThatTheClientDoesNotKnowIsReleased() {
    // Given
    ManualClock clock = new ManualClock();
    List<AcquireResponse> told = new CopyOnWriteArrayList<>();
    try (InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
        LockkeeperClient client = server.clientBuilder().callbackExecutor(Runnable::run).build()) {
      CompletableFuture<LockHandle> held = client.acquire(LockRequest.of("orders/42"));
      clock.settle();
      ManagedChannel channel = server.connect();
      AcquireRequest.Builder ghost =
          AcquireRequest.newBuilder()
              .setLeaseId(server.leaseIds().get(0))
              .setRequestId("of a stream that has died");
      ghost.addLocksBuilder().setName("orders/43");
      // When
      LockServiceGrpc.newStub(channel).acquire(ghost.build(), new Told(told));
      clock.settle();
      // Then
      assertThat(told)
          .extracting(event -> event.getEventCase().name())
          .containsExactly("GRANTED", "RELEASED");
      assertThat(held.join().isValid()).isTrue();
      channel.shutdownNow();
    }
  }

  private record Told(List<AcquireResponse> events) implements StreamObserver<AcquireResponse> {
    @Override
    public void onNext(AcquireResponse event) {
      events.add(event);
    }

    @Override
    public void onError(Throwable failure) {
      throw new AssertionError(failure);
    }

    @Override
    public void onCompleted() {}
  }
}
