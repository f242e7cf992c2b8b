package io.lockkeeper.integration;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
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

  private static final int READERS = 200;
  private static final int CHANGES = 3_000;

  @Test
  void watchersThatNeverReadCostTheServerNothingAndOthersNoGrant() {
    // Given: a server whose heap would not hold what all of them have coming
    try (Rig rig = Rig.start(Rig.shortSessions(10, "--log-level=warn"))) {
      List<NeverReads> readers = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        NeverReads reader = new NeverReads();
        LockServiceGrpc.newStub(rig.connect())
            .watch(WatchRequest.newBuilder().setPrefix("slow/").build(), reader);
        readers.add(reader);
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

    private ClientCallStreamObserver<WatchRequest> call;

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchRequest> started) {
      call = started;
      call.disableAutoRequestWithInitial(0);
    }

    void cancel() {
      call.cancel("enough", null);
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
