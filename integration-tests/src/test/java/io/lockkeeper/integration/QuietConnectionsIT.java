package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Pace;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.RawHttp2;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Clients that only ping, and clients that are silent because their host is gone. */
final class QuietConnectionsIT {

  /** A server that allows no pings complains of the third. */
  private static final int PINGS = 4;

  /** Just more than what the server demands between two pings. */
  private static final Duration BETWEEN_PINGS = Duration.ofMillis(5_500);

  @Test
  void silentStreamIsFreedByTheServersPingsAndAPingingClientIsLeftAlone() throws Exception {
    // Given
    Rig rig = Rig.shared();
    try (ByteProxy silent = ByteProxy.to(rig.server().port());
        RawHttp2 pinging = RawHttp2.open("127.0.0.1", rig.server().port())) {
      Asking.forLock(rig.server().connect(silent.port()), "quiet/stream").awaitGrant();
      Asking waiter = Asking.forLock(rig.connect(), "quiet/stream");
      waiter.await(EventCase.QUEUED);

      // When
      silent.blackhole();
      for (int i = 0; i < PINGS; i++) {
        Pace.letPass(BETWEEN_PINGS.multipliedBy(Math.min(i, 1)));
        pinging.frame(RawHttp2.PING, 0, 0, new byte[8]);
        pinging.flush();
      }

      // Then
      waiter.awaitGrant();
      waiter.hangUp();
      for (int i = 0; i < PINGS; i++) {
        assertThat(pinging.await(RawHttp2.PING)).as("answer to ping %d", i).isPresent();
      }
    }
  }
}
