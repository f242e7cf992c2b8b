package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** When a watch is tried again that a server cannot serve now. */
class WatchRetryTest {

  private final AtomicInteger asked = new AtomicInteger();

  /** Asks to be left alone for a while. */
  private final class Busy extends LockServiceGrpc.LockServiceImplBase {
    @Override
    public void watch(WatchRequest request, StreamObserver<WatchResponse> watcher) {
      asked.incrementAndGet();
      watcher.onError(ScriptedServer.busyFor(Duration.ofSeconds(4)));
    }
  }

  @Test
  void serverThatWantsToBeLeftAloneIsLeftAlone() throws IOException {
    // Given
    String name = "busy-" + UUID.randomUUID();
    Server server =
        InProcessServerBuilder.forName(name)
            .directExecutor()
            .addService(new Busy())
            .build()
            .start();
    ManualClock clock = new ManualClock();
    try (LockkeeperClient client =
            LockkeeperClient.builder("busy")
                .channels(a -> InProcessChannelBuilder.forName(name).directExecutor().build())
                .clock(clock)
                .callbackExecutor(Runnable::run)
                .build();
        Watch watch = client.watch("", new RecordingWatch())) {
      clock.settle();
      // When
      clock.advance(Duration.ofMillis(3_999));
      int early = asked.get();
      clock.advance(Duration.ofMillis(1_002));
      // Then
      assertThat(watch).isNotNull();
      assertThat(early).isEqualTo(1);
      assertThat(asked).hasValue(2);
    } finally {
      server.shutdownNow();
    }
  }
}
