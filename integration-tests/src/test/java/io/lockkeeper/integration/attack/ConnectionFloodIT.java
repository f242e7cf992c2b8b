package io.lockkeeper.integration.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.RawHttp2;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Attackers that open connections, break them, or break the protocol. */
final class ConnectionFloodIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void connectionsBeyondTheLimitOfAnAddressAreClosedAndOthersServed() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When
      Floods.silence(target.attack(), 2_000);
      target.awaitRefused("address-connections");

      // Then
      target.assertServes();
      assertThat(target.server().metric("lockkeeper_connections")).isLessThan(400);
      // Who never sends the preface is sent away.
      target.awaitGivenBack();
      target.assertServes();
    }
  }

  @Test
  void brokenFramesFillNoLog() throws IOException {
    try (Target target = Target.start()) {
      int before = target.server().output().length();
      // When: frames of data for streams that never were, and bytes that are no frames at all
      Floods.brokenFrames(target.attack());
      target.attack().close();
      target.awaitGivenBack();

      // Then
      target.assertServes();
      assertThat(target.server().output().length() - before).isLessThan(20_000);
    }
  }

  @Test
  void connectionThatResetsCallAfterCallIsClosedAndOthersAreServed() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When
      boolean closed = Floods.resets(target.attack(), "flood/reset", 50_000);

      // Then
      assertThat(closed).isTrue();
      target.assertServes();
      Awaitility.await()
          .atMost(PATIENCE)
          .until(() -> target.server().metric("lockkeeper_entries") < 5);
    }
  }

  @Test
  void connectionThatPingsWithoutEndIsClosed() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When
      boolean closed = Floods.pings(target.attack());

      // Then
      assertThat(closed).isTrue();
      target.assertServes();
    }
  }

  @Test
  void slowRequestsOverHttpKeepNobodyFromHealth() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When: more than there may be, each of which has begun a request
      List<RawHttp2> slow = new ArrayList<>();
      for (int connection = 0; connection < 300; connection++) {
        RawHttp2 attacker = RawHttp2.silent(Attack.EVIL, target.server().httpPort());
        attacker.send("GET /healthz HT".getBytes(StandardCharsets.US_ASCII));
        slow.add(attacker);
      }

      // Then
      target.assertServes();
      assertThat(target.refused("http-address-connections")).isPositive();
      target.awaitRefused("http-time");
      slow.forEach(RawHttp2::close);
    }
  }
}
