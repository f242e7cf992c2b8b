package io.lockkeeper.integration.attack;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.RawHttp2;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;

/**
 * A server with 256 MB of heap and 64 MB of direct memory that is attacked, and an honest client of
 * it that came before. Attackers come from other addresses of this machine.
 */
final class Target implements AutoCloseable {

  /** Where the attackers come from; the honest client comes from 127.0.0.1. */
  static final String EVIL = "127.0.0.2";

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int HTTP_MILLIS = 10_000;

  private final Rig rig;
  private final ManagedChannel honest;
  private final List<RawHttp2> attackers = new ArrayList<>();
  private int locks;

  private Target(Rig rig) {
    this.rig = rig;
    this.honest = rig.connect();
    lockAndRelease();
  }

  static Target start(String... flags) {
    return new Target(Rig.startSmall(Rig.shortSessions(20, flags)));
  }

  ServerProcess server() {
    return rig.server();
  }

  ManagedChannel honest() {
    return honest;
  }

  /** Opens a connection that speaks HTTP/2. */
  RawHttp2 attack(String from) throws IOException {
    RawHttp2 attacker = RawHttp2.open(from, rig.server().port());
    attackers.add(attacker);
    return attacker;
  }

  /** Opens a connection that says nothing. */
  RawHttp2 silent(String from) throws IOException {
    RawHttp2 attacker = RawHttp2.silent(from, rig.server().port());
    attackers.add(attacker);
    return attacker;
  }

  /** The honest client gets a lock and gives it back. */
  void lockAndRelease() {
    Asking asking = Asking.forLock(honest, "honest/" + locks++);
    asking.awaitGrant();
    asking.release();
  }

  /** Asserts that the server lives, serves an old client and a new one, and says so. */
  void assertServes() throws IOException {
    assertThat(rig.server().isAlive()).isTrue();
    lockAndRelease();
    assertThat(rig.server().health()).isEqualTo(SERVING);
    assertThat(get("/healthz")).startsWith("200");
    assertThat(get("/readyz")).startsWith("200");
    assertThat(rig.server().output()).doesNotContain("OutOfMemory", "OutOfDirectMemory");
  }

  /** Waits until something was refused at the limit. */
  void awaitRefused(String limit) {
    Awaitility.await("refused: " + limit).atMost(PATIENCE).until(() -> refused(limit) > 0);
  }

  /** Returns how often something was refused at the limit. */
  double refused(String limit) {
    return rig.server().metric("lockkeeper_refused_total{limit=\"" + limit + "\"}");
  }

  /** Ends all attacks. */
  void callOff() {
    attackers.forEach(RawHttp2::close);
    attackers.clear();
  }

  /** Waits until what the attack has taken is given back: only honest calls and connections. */
  void awaitGivenBack() {
    Awaitility.await("calls and connections given back")
        .atMost(PATIENCE)
        .until(
            () ->
                rig.server().metric("lockkeeper_calls") < 5
                    && rig.server().metric("lockkeeper_connections") < 5);
  }

  /** Returns the status and the body of a page. */
  String get(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection)
            URI.create("http://127.0.0.1:" + rig.server().httpPort() + path)
                .toURL()
                .openConnection();
    connection.setConnectTimeout(HTTP_MILLIS);
    connection.setReadTimeout(HTTP_MILLIS);
    int status = connection.getResponseCode();
    try (InputStream body =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      return status + " " + new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public void close() {
    callOff();
    rig.close();
  }
}
