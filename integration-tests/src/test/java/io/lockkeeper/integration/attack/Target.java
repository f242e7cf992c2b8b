package io.lockkeeper.integration.attack;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.TlsContexts;
import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Signed;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import javax.net.ssl.SSLContext;
import org.awaitility.Awaitility;

/**
 * A server with 256 MB of heap and 64 MB of direct memory that is attacked, and an honest client of
 * it that came before. Attackers come from other addresses of this machine.
 */
final class Target implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int HTTP_MILLIS = 10_000;
  private static final int HEALTH_SECONDS = 10;

  private final ZooKeeperProcess zookeeper;
  private final ServerProcess server;
  private final IntFunction<ManagedChannel> connections;
  private final Attack attack;
  private final ManagedChannel honest;
  private int locks;

  private Target(
      IntFunction<ManagedChannel> connections, Optional<SSLContext> tls, List<String> flags) {
    this.connections = connections;
    this.zookeeper = Rig.startZooKeeper();
    this.server =
        ServerProcess.launchSmall(
            zookeeper.connectString(), Rig.shortSessions(20, flags.toArray(String[]::new)));
    this.attack = new Attack(server.port(), tls);
    this.honest = connections.apply(server.port());
    Awaitility.await("health")
        .atMost(PATIENCE)
        .failFast("the server has exited", () -> !server.isAlive())
        .until(() -> health() == SERVING);
    lockAndRelease();
  }

  /** Starts one without TLS. */
  static Target start(String... flags) {
    return new Target(
        port ->
            Grpc.newChannelBuilder("127.0.0.1:" + port, InsecureChannelCredentials.create())
                .build(),
        Optional.empty(),
        List.of(flags));
  }

  /** Starts one that speaks TLS only, and takes only whom the authority for clients has signed. */
  static Target start(Certificates servers, Certificates clients, String... flags)
      throws Exception {
    Signed own = servers.sign("server");
    Signed client = clients.sign("honest");
    List<String> all = new ArrayList<>(List.of(flags));
    all.add("--tls-cert=" + own.certificate());
    all.add("--tls-key=" + own.key());
    all.add("--tls-client-ca=" + clients.authority);
    ChannelCredentials credentials =
        TlsChannelCredentials.newBuilder()
            .trustManager(servers.authority.toFile())
            .keyManager(client.certificate().toFile(), client.key().toFile())
            .build();
    return new Target(
        port -> Grpc.newChannelBuilder("localhost:" + port, credentials).build(),
        Optional.of(TlsContexts.trusting(servers.authority)),
        all);
  }

  ServerProcess server() {
    return server;
  }

  ManagedChannel honest() {
    return honest;
  }

  Attack attack() {
    return attack;
  }

  /** The honest client gets a lock and gives it back. */
  void lockAndRelease() {
    Asking asking = Asking.forLock(honest, "honest/" + locks++);
    asking.awaitGrant();
    asking.release();
  }

  /** Asserts that the server lives, serves an old client and a new one, and says so. */
  void assertServes() throws IOException {
    assertThat(server.isAlive()).isTrue();
    lockAndRelease();
    assertThat(health()).isEqualTo(SERVING);
    assertThat(get("/healthz")).startsWith("200");
    assertThat(get("/readyz")).startsWith("200");
    assertThat(server.output()).doesNotContain("OutOfMemory", "OutOfDirectMemory");
  }

  /** Asks on a new connection. */
  private ServingStatus health() {
    ManagedChannel channel = connections.apply(server.port());
    try {
      return HealthGrpc.newBlockingStub(channel)
          .withDeadlineAfter(HEALTH_SECONDS, TimeUnit.SECONDS)
          .check(HealthCheckRequest.getDefaultInstance())
          .getStatus();
    } catch (StatusRuntimeException e) {
      return ServingStatus.UNKNOWN;
    } finally {
      channel.shutdownNow();
    }
  }

  /** Waits until something was refused at the limit. */
  void awaitRefused(String limit) {
    Awaitility.await("refused: " + limit).atMost(PATIENCE).until(() -> refused(limit) > 0);
  }

  /** Returns how often something was refused at the limit. */
  double refused(String limit) {
    return server.metric("lockkeeper_refused_total{limit=\"" + limit + "\"}");
  }

  /** Waits until what the attack has taken is given back: only honest calls and connections. */
  void awaitGivenBack() {
    Awaitility.await("calls and connections given back")
        .atMost(PATIENCE)
        .until(
            () ->
                server.metric("lockkeeper_calls") < 5
                    && server.metric("lockkeeper_connections") < 5);
  }

  /** Returns the status and the body of a page. */
  String get(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection)
            URI.create("http://127.0.0.1:" + server.httpPort() + path).toURL().openConnection();
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
    attack.close();
    honest.shutdownNow();
    server.close();
    zookeeper.close();
  }
}
