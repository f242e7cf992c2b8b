package io.lockkeeper.integration;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that ask for a stream and never read it. */
final class SlowReadersIT {

  private static final int READERS = 100;
  private static final int CHANGES = 1_000;

  /** What a reader's own side takes in before the server has to keep the rest, or not. */
  private static final int WINDOW_BYTES = 64 * 1024;

  @Test
  void watchersThatNeverReadCostTheServerNothingAndOthersNoGrant() {
    // Given: a server whose heap would not hold what all of them have coming
    try (Rig rig = Rig.start(Rig.shortSessions(10, "--log-level=warn"))) {
      List<NeverReads> readers = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        readers.add(NeverReads.of(rig.server().port()));
      }

      // When
      ManagedChannel channel = rig.connect();
      String metadata = "x".repeat(4_000);
      for (int i = 0; i < CHANGES; i++) {
        Asking asking =
            Asking.with(
                channel, Asking.request("slow/lock-" + i % 10).putMetadata("k", metadata).build());
        asking.awaitGrant();
        asking.release();
      }

      // Then
      assertThat(rig.server().health()).isEqualTo(SERVING);
      assertThat(rig.server().output()).doesNotContain("OutOfMemory");
      readers.forEach(NeverReads::cancel);
    }
  }

  /** Asks for nothing, ever. */
  private static final class NeverReads
      implements ClientResponseObserver<WatchRequest, WatchResponse> {

    private final ManagedChannel channel;
    private ClientCallStreamObserver<WatchRequest> call;

    private NeverReads(ManagedChannel channel) {
      this.channel = channel;
    }

    static NeverReads of(int port) {
      NeverReads reader =
          new NeverReads(
              NettyChannelBuilder.forAddress("127.0.0.1", port)
                  .usePlaintext()
                  .flowControlWindow(WINDOW_BYTES)
                  .build());
      LockServiceGrpc.newStub(reader.channel)
          .watch(WatchRequest.newBuilder().setPrefix("slow/").build(), reader);
      return reader;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchRequest> started) {
      call = started;
      call.disableAutoRequestWithInitial(0);
    }

    void cancel() {
      call.cancel("enough", null);
      channel.shutdownNow();
    }

    @Override
    public void onNext(WatchResponse value) {
      throw new AssertionError("nothing was asked for");
    }

    @Override
    public void onError(Throwable failure) {
      // How it ends does not matter.
    }

    @Override
    public void onCompleted() {
      // How it ends does not matter.
    }
  }
}
