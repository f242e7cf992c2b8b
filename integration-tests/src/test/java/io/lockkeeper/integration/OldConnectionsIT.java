package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Servers that ask for new connections all the time. */
final class OldConnectionsIT {

  private static final String AGE = "--max-connection-age=1s";
  private static final int MOVES = 4;
  private static final String SENT_AWAY = "lockkeeper_sessions_sent_away_total";

  @Test
  void clientsThatAreSentAwayTimeAndAgainLoseNothing() throws Exception {
    // Given
    try (ServerProcess server = Rig.server("/old", AGE);
        ServerProcess other = Rig.server("/old", AGE);
        LockkeeperClient client =
            LockkeeperClient.builder(server.address() + "," + other.address()).build()) {
      LockHandle held = client.lock("old/held");
      Asking stream = Asking.forLock(server.connect(), "old/stream");
      stream.awaitGrant();
      CompletableFuture<LockHandle> waiting = client.acquire(LockRequest.of("old/stream"));
      String lease = client.leaseTag();
      // When
      await().until(() -> server.metric(SENT_AWAY) + other.metric(SENT_AWAY) >= MOVES);
      // Then
      assertThat(held.isValid()).isTrue();
      assertThat(client.leaseTag()).isEqualTo(lease);
      assertThat(client.checkToken("old/held", held.fencingToken()).current()).isTrue();
      assertThat(stream.events().end()).isEmpty();
      assertThat(stream.find(EventCase.LOST)).isEmpty();
      assertThat(waiting).isNotDone();
      // When
      stream.hangUp();
      // Then
      assertThat(waiting.get(1, TimeUnit.MINUTES).isValid()).isTrue();
    }
  }
}
