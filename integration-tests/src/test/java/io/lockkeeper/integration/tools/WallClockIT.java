package io.lockkeeper.integration.tools;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.KeepAlives;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.WallClock;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A server whose wall clock is set an hour on and an hour back. */
final class WallClockIT {

  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration RENEWAL = Duration.ofMillis(300);
  private static final int RENEWALS = 10;
  private static final Duration JUMP = Duration.ofHours(1);
  private static final int READ_MILLIS = 60_000;

  @Test
  void wallClockThatJumpsChangesNoLeaseAndNoLock() throws IOException {
    // Given
    WallClock clock = WallClock.right();
    try (ServerProcess server =
        ServerProcess.launch(
            clock.environment(),
            Ports.free(),
            Rig.shared().zookeeper().connectString(),
            "--root=/clock")) {
      server.awaitHealth(SERVING);
      SessionStream session = SessionStream.open(server.connect(), TTL);
      session.awaitOpened();
      session.acquire("clock/lock", "held");
      session.await("held", EventCase.GRANTED);
      Asking stream = Asking.forLock(server.connect(), "clock/stream");
      stream.awaitGrant();
      Instant right = wallClockOf(server);
      try (KeepAlives keepAlives = KeepAlives.of(session, RENEWAL)) {
        for (Duration fast : List.of(JUMP, JUMP.negated())) {
          // When
          clock.set(fast);
          // Then
          assertThat(wallClockOf(server))
              .isCloseTo(right.plus(fast), Assertions.within(JUMP.dividedBy(2)));
          awaitRenewals(keepAlives);
          assertNothingEnded(session, stream);
          // Set on, it looks as if the machine had been suspended; set back, like nothing.
          assertThat(server.metric("lockkeeper_stalls_seconds_sum"))
              .isCloseTo((double) JUMP.toSeconds(), Assertions.within(JUMP.toSeconds() / 2.0));
        }
      }
      assertThat(stream.find(EventCase.JEOPARDY)).isEmpty();
    }
  }

  /** Returns what the server thinks that the time is, as the header of an answer says. */
  private static Instant wallClockOf(ServerProcess server) throws IOException {
    URI live = URI.create("http://127.0.0.1:" + server.httpPort() + "/livez");
    HttpURLConnection connection = (HttpURLConnection) live.toURL().openConnection();
    connection.setReadTimeout(READ_MILLIS);
    try {
      assertThat(connection.getDate()).isPositive();
      return Instant.ofEpochMilli(connection.getDate());
    } finally {
      connection.disconnect();
    }
  }

  /** Waits for renewals that the server answers after its clock was set. */
  private static void awaitRenewals(KeepAlives keepAlives) {
    int before = keepAlives.acknowledged().size();
    Awaitility.await().until(() -> keepAlives.acknowledged().size() >= before + RENEWALS);
  }

  private static void assertNothingEnded(SessionStream session, Asking stream) {
    assertThat(session.responses().end()).isEmpty();
    assertThat(session.responses().find(r -> r.hasLeaseEnded())).isEmpty();
    assertThat(session.responses().find(r -> r.hasEvent() && r.getEvent().hasLost())).isEmpty();
    assertThat(stream.find(EventCase.LOST)).isEmpty();
  }
}
