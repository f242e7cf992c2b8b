package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Servers that are told to stop, and servers that cannot start. */
final class StopIT {

  @Test
  void serverThatIsToldToStopSaysGoodbyeAndEndsByItself() {
    // Given
    try (Rig rig = Rig.start(Rig.shortSessions(6))) {
      ManagedChannel channel = rig.connect();
      SessionStream session = SessionStream.open(channel, Duration.ofSeconds(30));
      session.awaitOpened();
      session.acquire("stop/lock", "held");
      session.await("held", EventCase.GRANTED);

      // When
      rig.server().terminate();

      // Then
      session.await("goodbye", response -> response.hasGoingAway());
      session.responses().awaitEnd();
      assertThat(rig.server().awaitExit()).isIn(0, 143);
      assertThat(rig.server().output()).doesNotContain("Exception");
    }
  }

  @Test
  void locksOfAServerThatDiesAreFreeOnceItsSessionsHaveEnded() {
    // Given
    try (Rig rig = Rig.start(Rig.shortSessions(4))) {
      Asking.forLock(rig.connect(), "stop/killed").awaitGrant();
      rig.server().kill();

      // When
      try (ServerProcess next =
          ServerProcess.start(rig.zookeeper().connectString(), Rig.shortSessions(4))) {
        Asking waiter = Asking.forLock(next.connect(), "stop/killed");

        // Then
        waiter.awaitGrant();
      }
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
