package io.lockkeeper.integration;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.KeepAlives;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A server whose wall clock is set an hour on and an hour back. */
final class WallClockIT {

  private static final Duration TTL = Duration.ofSeconds(3);
  private static final Duration START = Duration.ofSeconds(20);
  private static final int ATTEMPTS = 3;

  @Test
  void wallClockThatJumpsChangesNoLeaseAndNoLock() throws IOException {
    // Given
    Path library = assumeFaketime();
    boolean wentOn = false;
    for (int attempt = 0; attempt < ATTEMPTS && !wentOn; attempt++) {
      // When, Then
      wentOn = clockJumps(library);
    }
    assumeWentOn(wentOn);
  }

  /**
   * Lets the clock of a server jump, and asserts that nothing comes of it; returns false if the
   * server's JVM did not go on, which says nothing of us.
   */
  private static boolean clockJumps(Path library) throws IOException {
    Path clock = Files.writeString(Scratch.directory("clock").resolve("offset"), "+0\n");
    Map<String, String> environment =
        Map.of(
            "LD_PRELOAD",
            library.toString(),
            "FAKETIME_TIMESTAMP_FILE",
            clock.toString(),
            "FAKETIME_NO_CACHE",
            "1",
            "FAKETIME_DONT_FAKE_MONOTONIC",
            "1");
    try (ZooKeeperProcess zookeeper = Rig.startZooKeeper();
        ServerProcess server =
            ServerProcess.launch(
                environment, Ports.free(), zookeeper.connectString(), Rig.shortSessions(20))) {
      if (!started(server)) {
        return false;
      }
      server.awaitHealth(SERVING);
      SessionStream session = SessionStream.open(server.connect(), TTL);
      session.awaitOpened();
      session.acquire("clock/lock", "held");
      session.await("held", EventCase.GRANTED);
      Asking stream = Asking.forLock(server.connect(), "clock/stream");
      stream.awaitGrant();
      try (KeepAlives keepAlives = KeepAlives.of(session, Duration.ofMillis(300))) {
        for (String offset : List.of("+3600\n", "-3600\n")) {
          Files.writeString(clock, offset);
          assertNothingEndsAtOnce(session, stream);
          if (!goesOn(keepAlives)) {
            return false;
          }
        }
      }
      assertNothingEnded(session, stream);
      assertThat(stream.find(EventCase.JEOPARDY)).isEmpty();
      return true;
    }
  }

  /** A JVM that hangs ends no lease before its TTL; a lease on the wall clock would end now. */
  private static void assertNothingEndsAtOnce(SessionStream session, Asking stream) {
    Awaitility.await()
        .during(TTL.dividedBy(3))
        .atMost(TTL)
        .untilAsserted(() -> assertNothingEnded(session, stream));
  }

  private static void assertNothingEnded(SessionStream session, Asking stream) {
    assertThat(session.responses().end()).isEmpty();
    assertThat(session.responses().find(r -> r.hasLeaseEnded())).isEmpty();
    assertThat(session.responses().find(r -> r.hasEvent() && r.getEvent().hasLost())).isEmpty();
    assertThat(stream.find(EventCase.LOST)).isEmpty();
  }

  /** Waits for a few renewals, which take longer than the TTL; returns whether they came. */
  private static boolean goesOn(KeepAlives keepAlives) {
    int before = keepAlives.acknowledged().size();
    long startNanos = System.nanoTime();
    Awaitility.await()
        .atMost(START.plusSeconds(5))
        .until(
            () ->
                keepAlives.acknowledged().size() >= before + 12
                    || System.nanoTime() - startNanos > START.toNanos());
    return keepAlives.acknowledged().size() >= before + 12;
  }

  /** The interception sometimes turns a JVM's timed waits into waits of an hour, in any thread. */
  private static void assumeWentOn(boolean wentOn) {
    if (!wentOn) {
      System.out.println(
          "SKIPPED: test of wall clock jumps: the JVM's waits hang under libfaketime");
    }
    Assumptions.assumeTrue(wentOn, "SKIPPED: the JVM's waits hang under libfaketime here");
  }

  /** A JVM whose clock calls are intercepted sometimes hangs before its first line of Java. */
  private static boolean started(ServerProcess server) {
    long startNanos = System.nanoTime();
    Awaitility.await()
        .atMost(START.plusSeconds(5))
        .until(
            () -> !server.output().isEmpty() || System.nanoTime() - startNanos > START.toNanos());
    return !server.output().isEmpty();
  }

  private static Path assumeFaketime() throws IOException {
    Optional<Path> library;
    try (Stream<Path> files = Files.find(Path.of("/usr/lib"), 4, (file, a) -> isFaketime(file))) {
      library = files.findFirst();
    }
    if (library.isEmpty()) {
      System.out.println("SKIPPED: test of wall clock jumps: no libfaketime (apt: faketime)");
    }
    Assumptions.assumeTrue(library.isPresent(), "SKIPPED: no libfaketime");
    return library.get();
  }

  private static boolean isFaketime(Path file) {
    return file.endsWith("faketime/libfaketime.so.1");
  }
}
