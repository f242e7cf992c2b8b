package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Shape;
import io.lockkeeper.server.rpc.Certificates.Signed;
import io.lockkeeper.server.rpc.Received;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two coordinators and a client, each with a certificate of its own. */
class MutualTlsTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path folder;
  @TempDir private Path data;

  private final List<AutoCloseable> open = new ArrayList<>();
  private Certificates clients;
  private Certificates peers;
  private EmbeddedZooKeeper zookeeper;

  @BeforeEach
  void start() throws Exception {
    clients = Certificates.authority(folder, "clients");
    peers = Certificates.authority(folder, "peers");
    zookeeper =
        EmbeddedZooKeeper.start(data, 0, Duration.ofMillis(500), Duration.ofSeconds(60), () -> {});
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    zookeeper.close();
  }

  private LockkeeperServer server(Signed own) {
    LockkeeperServer server =
        LockkeeperServer.start(
            ServerConfig.of(
                Profile.SERVE,
                Map.of(
                    "zookeeper", zookeeper.connectString(),
                    "listen", "localhost:" + Ports.free(),
                    "http", "127.0.0.1:0",
                    "zookeeper-tick-time", "500ms",
                    "tls-cert", own.certificate().toString(),
                    "tls-key", own.key().toString(),
                    "tls-client-ca", clients.authority.toString(),
                    "peer-ca", peers.authority.toString())));
    open.add(server);
    assertThat(server.awaitServing(LIMIT)).isTrue();
    return server;
  }

  private ManagedChannel channel(LockkeeperServer server, Signed client) throws Exception {
    ManagedChannel channel =
        Grpc.newChannelBuilder(
                "localhost:" + server.grpcPort(),
                TlsChannelCredentials.newBuilder()
                    .trustManager(peers.authority.toFile())
                    .keyManager(client.certificate().toFile(), client.key().toFile())
                    .build())
            .build();
    open.add(channel::shutdownNow);
    return channel;
  }

  private static double secondsLeft(LockkeeperServer server) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.httpPort() + "/metrics");
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith("lockkeeper_certificate_expiry_seconds{file=\"tls-cert\"}"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  @Test
  void coordinatorIsNoClient() throws Exception {
    // Given
    LockkeeperServer server = server(peers.sign("one"));
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                LeaseServiceGrpc.newBlockingStub(channel(server, peers.sign("two")))
                    .withDeadlineAfter(LIMIT)
                    .openLease(OpenLeaseRequest.getDefaultInstance()));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.UNAUTHENTICATED);
  }

  @Test
  void oneCoordinatorHandsARequestOnToTheOther() throws Exception {
    // Given
    Signed client = clients.sign("client");
    ManagedChannel owner = channel(server(peers.sign("one")), client);
    ManagedChannel other = channel(server(peers.sign("two")), client);
    String lease =
        LeaseServiceGrpc.newBlockingStub(owner)
            .openLease(OpenLeaseRequest.getDefaultInstance())
            .getLeaseId();
    // When
    var found =
        LeaseServiceGrpc.newBlockingStub(other)
            .withDeadlineAfter(LIMIT)
            .getLease(GetLeaseRequest.newBuilder().setLeaseId(lease).build());
    // Then
    assertThat(found.hasLease()).isTrue();
  }

  @Test
  void certificateIsReplacedUnderAStreamWithoutARestart() throws Exception {
    // Given
    Signed own = peers.sign("own");
    Signed client = clients.sign("client");
    LockkeeperServer server = server(own);
    Received<AcquireRequest, AcquireResponse> holder = Received.all();
    AcquireRequest request =
        AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName("a")).build();
    LockServiceGrpc.newStub(channel(server, client)).acquire(request, holder);
    assertThat(holder.next().hasGranted()).isTrue();
    Instant now = Instant.now();
    Signed renewed =
        peers.sign("renewed", Shape.of("own").withValidity(now, now.plus(Duration.ofDays(9))));
    // When
    Files.copy(renewed.certificate(), own.certificate(), StandardCopyOption.REPLACE_EXISTING);
    Files.copy(renewed.key(), own.key(), StandardCopyOption.REPLACE_EXISTING);
    // Then
    await().until(() -> secondsLeft(server) > Duration.ofDays(8).toSeconds());
    Received<AcquireRequest, AcquireResponse> waiter = Received.all();
    LockServiceGrpc.newStub(channel(server, client)).acquire(request, waiter);
    assertThat(waiter.next().hasQueued()).isTrue();
    holder.cancel();
    assertThat(waiter.next().hasGranted()).isTrue();
    assertThat(holder.end().getCode()).isEqualTo(Code.CANCELLED);
  }
}
