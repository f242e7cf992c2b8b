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
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import javax.net.ssl.SSLContext;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A server with 256 MB of heap and 64 MB of direct memory that is attacked, and an honest client of
 * it that came before. Registered as the extension of a test class, it begins an attack for each
 * test. After the test it must give back what the attack took, and serve.
 */
final class Target implements BeforeEachCallback, AfterEachCallback, AfterAllCallback {

  private static final int HTTP_MILLIS = 60_000;

  private final IntFunction<ManagedChannel> connections;
  private final Optional<SSLContext> tls;
  private final String[] flags;
  private ServerProcess server;
  private ManagedChannel honest;
  private Attack attack;
  private String metricsBefore;
  private int loggedBefore;
  private int locks;

  private Target(
      IntFunction<ManagedChannel> connections, Optional<SSLContext> tls, String... flags) {
    this.connections = connections;
    this.tls = tls;
    this.flags = flags;
    launch();
  }

  private void launch() {
    server = ServerProcess.launchSmall(Rig.shared().zookeeper().connectString(), flags);
    honest = connections.apply(server.port());
    Awaitility.await("health")
        .failFast("the server has exited", () -> !server.isAlive())
        .until(() -> health() == SERVING);
    lockAndRelease();
  }

  /** Starts one without TLS. */
  static Target start(String root) {
    return new Target(
        port ->
            Grpc.newChannelBuilder("127.0.0.1:" + port, InsecureChannelCredentials.create())
                .build(),
        Optional.empty(),
        "--root=" + root);
  }

  /** Starts one that requires TLS and a certificate that the authority for clients has signed. */
  static Target start(String root, Certificates servers, Certificates clients) throws Exception {
    Signed own = servers.sign("server");
    Signed client = clients.sign("honest");
    ChannelCredentials credentials =
        TlsChannelCredentials.newBuilder()
            .trustManager(servers.authority.toFile())
            .keyManager(client.certificate().toFile(), client.key().toFile())
            .build();
    return new Target(
        port -> Grpc.newChannelBuilder("localhost:" + port, credentials).build(),
        Optional.of(TlsContexts.trusting(servers.authority)),
        "--root=" + root,
        "--tls-cert=" + own.certificate(),
        "--tls-key=" + own.key(),
        "--tls-client-ca=" + clients.authority);
  }

  @Override
  public void beforeEach(ExtensionContext test) {
    if (!server.isAlive()) {
      honest.shutdownNow();
      launch();
    }
    attack = new Attack(server.port(), tls);
    metricsBefore = server.metrics();
    loggedBefore = server.output().length();
  }

  @Override
  public void afterEach(ExtensionContext test) throws IOException {
    attack.close();
    awaitGivenBack();
    assertServes();
  }

  @Override
  public void afterAll(ExtensionContext tests) {
    honest.shutdownNow();
    server.close();
  }

  ServerProcess server() {
    return server;
  }

  ManagedChannel honest() {
    return honest;
  }

  /** Returns the attack of this test. */
  Attack attack() {
    return attack;
  }

  /** Returns how much the server has logged since the test began. */
  int logged() {
    return server.output().length() - loggedBefore;
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
    assertThat(get("/healthz")).startsWith("200");
    // A busy machine may just have cost the server its connection to ZooKeeper.
    Awaitility.await("readiness")
        .until(() -> health() == SERVING && get("/readyz").startsWith("200"));
    assertThat(server.output()).doesNotContain("OutOfMemory", "OutOfDirectMemory");
  }

  /** Asks on a new connection. */
  private ServingStatus health() {
    ManagedChannel channel = connections.apply(server.port());
    try {
      return HealthGrpc.newBlockingStub(channel)
          .withDeadlineAfter(1, TimeUnit.MINUTES)
          .check(HealthCheckRequest.getDefaultInstance())
          .getStatus();
    } catch (StatusRuntimeException e) {
      return ServingStatus.UNKNOWN;
    } finally {
      channel.shutdownNow();
    }
  }

  /** Waits until this test has met the limit. */
  void awaitRefused(String limit) {
    Awaitility.await("refused: " + limit).until(() -> refused(limit) > 0);
  }

  /** Returns how often this test has met the limit. */
  double refused(String limit) {
    String line = "lockkeeper_refused_total{limit=\"" + limit + "\"}";
    return server.metric(line) - ServerProcess.metric(metricsBefore, line);
  }

  /** Waits until what the attack has taken is given back: only honest calls and connections. */
  void awaitGivenBack() {
    Awaitility.await("calls and connections given back")
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
}
