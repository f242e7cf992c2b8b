package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
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
      long before = System.nanoTime();
      rig.server().terminate();

      // Then
      session.await("goodbye", response -> response.hasGoingAway());
      session.responses().awaitEnd();
      assertThat(rig.server().awaitExit()).isIn(0, 143);
      print("exit", before);
      assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
      assertThat(rig.server().output()).doesNotContain("Exception");
    }
  }

  @Test
  void serverWhoseZooKeeperIsGoneEndsInTimeToo() {
    // Given
    try (Rig rig = Rig.start(Rig.shortSessions(6))) {
      SessionStream session = SessionStream.open(rig.connect(), Duration.ofSeconds(30));
      session.awaitOpened();
      session.acquire("stop/alone", "held");
      session.await("held", EventCase.GRANTED);
      session.acquire("stop/alone", "waits");
      session.await("waits", EventCase.QUEUED);
      rig.zookeeper().kill();
      session.release("waits");

      // When
      long before = System.nanoTime();
      rig.server().terminate();

      // Then
      session.responses().awaitEnd();
      assertThat(rig.server().awaitExit()).isIn(0, 143);
      print("exit without ZooKeeper", before);
      assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
    }
  }

  @Test
  void peerTakesOverFromAServerThatIsToldToStop() {
    // Given
    try (Rig rig = Rig.start();
        ServerProcess peer = ServerProcess.start(rig.zookeeper().connectString())) {
      SessionStream session = SessionStream.open(rig.connect(), Duration.ofSeconds(30));
      session.awaitOpened();
      long token = acquire(session, "stop/handed-over");
      Asking stranger = Asking.forLock(peer.connect(), "stop/handed-over");
      stranger.await(EventCase.QUEUED);

      // When
      rig.server().terminate();
      long goodbye = session.await("goodbye", response -> response.hasGoingAway()).nanos();
      SessionStream resumed = session.resume(peer.connect());

      // Then
      assertThat(resumed.awaitToken("held")).isEqualTo(token);
      print("stopped, resumed at a peer", goodbye);
      assertThat(stranger.find(EventCase.GRANTED)).isEmpty();
      resumed.release("held");
      stranger.awaitGrant();
      assertThat(rig.server().awaitExit()).isIn(0, 143);
    }
  }

  @Test
  void peerTakesOverFromAServerThatIsKilled() {
    // Given
    try (Rig rig = Rig.start();
        ServerProcess peer = ServerProcess.start(rig.zookeeper().connectString())) {
      SessionStream session = SessionStream.open(rig.connect(), Duration.ofSeconds(30));
      session.awaitOpened();
      long token = acquire(session, "stop/killed-over");

      // When
      long killed = System.nanoTime();
      rig.server().kill();
      SessionStream resumed = session.resume(peer.connect());

      // Then
      assertThat(resumed.awaitToken("held")).isEqualTo(token);
      print("killed, resumed at a peer", killed);
    }
  }

  @Test
  void serverThatStartsAgainOnItsDataDirectoryServesItsLeasesAgain() {
    // Given
    String home = "--data-dir=" + Scratch.directory("home");
    try (Rig rig = Rig.start(home)) {
      SessionStream session = SessionStream.open(rig.connect(), Duration.ofSeconds(30));
      session.awaitOpened();
      long token = acquire(session, "stop/restarted");
      rig.server().kill();

      // When
      try (ServerProcess next = ServerProcess.start(rig.zookeeper().connectString(), home)) {
        long started = System.nanoTime();
        SessionStream resumed = session.resume(next.connect());

        // Then
        assertThat(resumed.awaitToken("held")).isEqualTo(token);
        print("killed, resumed at its heir", started);
      }
    }
  }

  private static long acquire(SessionStream session, String lock) {
    session.acquire(lock, "held");
    return session.awaitToken("held");
  }

  private static void print(String what, long sinceNanos) {
    System.out.printf("%s: %d ms%n", what, (System.nanoTime() - sinceNanos) / 1_000_000);
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
