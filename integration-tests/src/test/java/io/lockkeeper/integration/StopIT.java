package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Servers that are told to stop, and a server that cannot start. */
@Tag("smoke")
final class StopIT {

  private static SessionStream holding(ServerProcess server, String lock) {
    SessionStream session = SessionStream.open(server.connect(), Duration.ofSeconds(30));
    session.acquire(lock, "held");
    session.await("held", EventCase.GRANTED);
    return session;
  }

  @Test
  void serverThatIsToldToStopSaysGoodbyeAndEndsByItself() {
    // Given
    try (ServerProcess server = Rig.server("/stop")) {
      SessionStream session = holding(server, "stop/lock");

      // When
      server.terminate();

      // Then
      session.await("goodbye", response -> response.hasGoingAway());
      session.responses().awaitEnd();
      assertThat(server.awaitExit()).isIn(0, 143);
      assertThat(server.output()).doesNotContain("Exception");
    }
  }

  @Test
  void serverWhoseZooKeeperIsGoneEndsByItselfToo() {
    // Given
    try (ByteProxy network = ByteProxy.to(Rig.shared().zookeeper().port());
        ServerProcess server = ServerProcess.start(network.address(), "--root=/stop-alone")) {
      SessionStream session = holding(server, "stop/alone");
      session.acquire("stop/alone", "waits");
      session.await("waits", EventCase.QUEUED);
      network.refuse();
      session.release("waits");

      // When
      server.terminate();

      // Then
      session.responses().awaitEnd();
      assertThat(server.awaitExit()).isIn(0, 143);
    }
  }

  @Test
  void portInUseIsSaidInOneSentence() {
    // Given
    Rig rig = Rig.shared();

    // When
    try (ServerProcess second =
        ServerProcess.launch(Map.of(), rig.server().port(), rig.zookeeper().connectString())) {

      // Then
      assertThat(second.awaitExit()).isNotZero();
      assertThat(second.output())
          .contains(Integer.toString(rig.server().port()))
          .contains("in use")
          .doesNotContain("\tat ");
    }
  }
}
