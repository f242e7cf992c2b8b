package io.lockkeeper.integration.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Asking;
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
      for (int connection = 0; connection < 2_000; connection++) {
        target.silent(Target.EVIL);
      }
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
      for (int connection = 0; connection < 200; connection++) {
        RawHttp2 attacker = target.attack(Target.EVIL);
        for (int i = 0; i < 100; i++) {
          attacker.call("/" + i, "content-type", "text/plain");
          attacker.call("no-slash\u0001");
        }
        sendAnyway(attacker, RawHttp2.DATA, 4_001);
      }
      for (int connection = 0; connection < 200; connection++) {
        RawHttp2 attacker = target.silent(Target.EVIL);
        attacker.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      }
      target.callOff();
      target.awaitGivenBack();

      // Then
      target.assertServes();
      assertThat(target.server().output().length() - before).isLessThan(20_000);
    }
  }

  private static void sendAnyway(RawHttp2 attacker, int type, int stream) {
    try {
      attacker.frame(type, 0, stream, new byte[10]);
      attacker.flush();
    } catch (IOException e) {
      assertThat(e).hasMessageMatching("(?s).*(reset|Broken pipe|closed).*");
    }
  }

  @Test
  void connectionThatResetsCallAfterCallIsClosedAndOthersAreServed() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When
      RawHttp2 attacker = target.attack(Target.EVIL);
      byte[] request = Messages.framed(Asking.request("flood/reset").build());
      boolean closed = false;
      for (int call = 0; call < 50_000 && !closed; call++) {
        int stream = attacker.call(RawHttp2.ACQUIRE);
        attacker.data(stream, request, true);
        attacker.cancel(stream);
        closed = call % 100 == 0 && !flushed(attacker);
      }

      // Then
      assertThat(closed || attacker.isClosedByServer()).isTrue();
      target.assertServes();
      Awaitility.await()
          .atMost(PATIENCE)
          .until(() -> target.server().metric("lockkeeper_entries ") < 5);
    }
  }

  private static boolean flushed(RawHttp2 attacker) {
    try {
      attacker.flush();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void connectionThatPingsWithoutEndIsClosed() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When
      RawHttp2 attacker = target.attack(Target.EVIL);
      boolean open = true;
      for (int ping = 0; ping < 1_000 && open; ping++) {
        attacker.frame(RawHttp2.PING, 0, 0, new byte[8]);
        open = flushed(attacker);
      }

      // Then
      assertThat(attacker.isClosedByServer()).isTrue();
      target.assertServes();
    }
  }

  @Test
  void slowRequestsOverHttpKeepNobodyFromHealth() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When: more than there may be, each of which has begun a request
      List<RawHttp2> slow = new ArrayList<>();
      for (int connection = 0; connection < 300; connection++) {
        RawHttp2 attacker = RawHttp2.silent(Target.EVIL, target.server().httpPort());
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
