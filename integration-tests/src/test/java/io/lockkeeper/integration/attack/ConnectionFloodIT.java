package io.lockkeeper.integration.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.RawHttp2;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attackers that open connections, break them, or break the protocol. */
final class ConnectionFloodIT {

  @RegisterExtension private static final Target target = Target.start("/connection-flood");

  @Test
  void connectionsBeyondTheLimitOfAnAddressAreClosedAndOthersServed() throws IOException {
    // When
    Floods.silence(target.attack(), 2_000);
    target.awaitRefused("address-connections");

    // Then
    target.assertServes();
    assertThat(target.server().metric("lockkeeper_connections")).isLessThan(400);
    // A client that never sends the preface is disconnected.
    target.awaitGivenBack();
  }

  @Test
  void brokenFramesFillNoLog() throws IOException {
    // When: frames of data for streams that never were, and bytes that are no frames at all
    Floods.brokenFrames(target.attack());
    target.attack().close();
    target.awaitGivenBack();

    // Then
    assertThat(target.logged()).isLessThan(20_000);
  }

  @Test
  void connectionThatResetsCallAfterCallIsClosedAndOthersAreServed() throws IOException {
    // When
    boolean closed = Floods.resets(target.attack(), "flood/reset", 50_000);

    // Then
    assertThat(closed).isTrue();
    target.assertServes();
    Awaitility.await().until(() -> target.server().metric("lockkeeper_entries") < 5);
  }

  @Test
  void connectionThatPingsWithoutEndIsClosed() throws IOException {
    // When
    boolean closed = Floods.pings(target.attack());

    // Then
    assertThat(closed).isTrue();
  }

  @Test
  void slowRequestsOverHttpKeepNobodyFromHealth() throws IOException {
    // When: more than there may be, each of which has begun a request
    List<RawHttp2> slow = new ArrayList<>();
    for (int connection = 0; connection < 300; connection++) {
      RawHttp2 attacker = RawHttp2.silent(target.attack().address(), target.server().httpPort());
      attacker.send("GET /healthz HT".getBytes(StandardCharsets.US_ASCII));
      slow.add(attacker);
    }

    // Then
    target.assertServes();
    target.awaitRefused("http-address-connections");
    target.awaitRefused("http-time");
    slow.forEach(RawHttp2::close);
  }
}
