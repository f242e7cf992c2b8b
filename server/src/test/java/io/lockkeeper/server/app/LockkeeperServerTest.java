package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.CoordinatorState;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionRequest;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockkeeperServerTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path directory;

  @Test
  void lockIsGrantedOverGrpcAndMetricsTellOfIt() throws Exception {
    // Given
    try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(60));
        LockkeeperServer server = LockkeeperServer.start(config(zookeeper.connectString()))) {
      assertThat(server.awaitServing(LIMIT)).isTrue();
      ManagedChannel channel = channel(server);
      // When
      Iterator<AcquireResponse> events =
          LockServiceGrpc.newBlockingStub(channel)
              .acquire(
                  AcquireRequest.newBuilder()
                      .addLocks(LockRequest.newBuilder().setName("orders/42"))
                      .build());
      // Then
      AcquireResponse event = events.next();
      assertThat(event.hasGranted()).as("%s", event).isTrue();
      await()
          .untilAsserted(
              () ->
                  assertThat(metrics(server))
                      .contains("lockkeeper_serving 1.0", "lockkeeper_acquisitions_held 1.0")
                      .contains("lockkeeper_grants_total 1.0")
                      .contains("lockkeeper_forwarded_requests_total 0.0")
                      .contains("lockkeeper_peer_suspicions_total 0.0")
                      .contains("lockkeeper_sessions_sent_away_total 0.0")
                      .containsPattern("lockkeeper_zookeeper_writes_total [1-9]"));
      channel.shutdownNow();
    }
  }

  @Test
  void leaseOpenedWithoutATtlHasTheConfiguredOne() {
    // Given
    try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(60));
        LockkeeperServer server =
            LockkeeperServer.start(
                config(zookeeper.connectString(), Map.of("default-lease-ttl", "7s")))) {
      assertThat(server.awaitServing(LIMIT)).isTrue();
      ManagedChannel channel = channel(server);
      // When
      OpenLeaseResponse opened =
          LeaseServiceGrpc.newBlockingStub(channel)
              .openLease(OpenLeaseRequest.getDefaultInstance());
      // Then
      assertThat(opened.getTtl().getSeconds()).isEqualTo(7);
      channel.shutdownNow();
    }
  }

  @Test
  void portThatTheSystemChoosesIsAdvertised() {
    // Given
    try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(60));
        LockkeeperServer server = LockkeeperServer.start(config(zookeeper.connectString()))) {
      assertThat(server.awaitServing(LIMIT)).isTrue();
      ManagedChannel channel = channel(server);
      // When
      AdminServiceGrpc.AdminServiceBlockingStub admin = AdminServiceGrpc.newBlockingStub(channel);
      // Then
      await()
          .untilAsserted(
              () ->
                  assertThat(
                          admin
                              .getCluster(GetClusterRequest.getDefaultInstance())
                              .getCoordinatorsList())
                      .extracting(CoordinatorState::getAddress)
                      .containsExactly("127.0.0.1:" + server.grpcPort()));
      channel.shutdownNow();
    }
  }

  @Test
  void ensembleThatCutsSessionsShortIsRefusedWithTheReason() {
    // Given
    try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(10));
        // When
        LockkeeperServer server = LockkeeperServer.start(config(zookeeper.connectString()))) {
      // Then
      await().until(() -> server.failure().isDone());
      assertThat(server.failure().join()).contains("10000 ms", "maxSessionTimeout");
    }
  }

  @Test
  void olderDataOfZooKeeperThanTheHomeRecordedIsRefusedUnlessTokensMayRepeat() throws Exception {
    // Given
    long token;
    try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(60));
        LockkeeperServer server =
            LockkeeperServer.start(config(zookeeper.connectString(), atHome(false)))) {
      assertThat(server.awaitServing(LIMIT)).isTrue();
      token = lastOf20Tokens(server);
    }
    Files.move(directory.resolve("zookeeper"), directory.resolve("lost"));
    // When
    try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(60));
        LockkeeperServer server =
            LockkeeperServer.start(config(zookeeper.connectString(), atHome(false)))) {
      // Then
      assertThat(server.awaitServing(LIMIT)).isFalse();
      assertThat(server.failure().join()).contains("is older", "--allow-token-reset");
    }
    // And
    for (boolean allowed : List.of(true, false)) {
      try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(60));
          LockkeeperServer server =
              LockkeeperServer.start(config(zookeeper.connectString(), atHome(allowed)))) {
        assertThat(server.awaitServing(LIMIT)).isTrue();
        assertThat(allowed ? lastOf20Tokens(server) : token).isPositive();
      }
    }
  }

  private Map<String, String> atHome(boolean allowed) {
    String home = directory.resolve("home").toString();
    return Map.of("data-dir", home, "allow-token-reset", Boolean.toString(allowed));
  }

  private static long lastOf20Tokens(LockkeeperServer server) {
    ManagedChannel channel = channel(server);
    long token = 0;
    for (int i = 0; i < 20; i++) {
      AcquireRequest request =
          AcquireRequest.newBuilder()
              .addLocks(LockRequest.newBuilder().setName("orders/" + i))
              .build();
      AcquireResponse event = LockServiceGrpc.newBlockingStub(channel).acquire(request).next();
      assertThat(event.getGranted().getGrants(0).getFencingToken()).isGreaterThan(token);
      token = event.getGranted().getGrants(0).getFencingToken();
    }
    channel.shutdownNow();
    return token;
  }

  @Test
  void stopTellsBalancersFirstAndThenTheClients() throws Exception {
    // Given
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    CountDownLatch ended = new CountDownLatch(2);
    try (EmbeddedZooKeeper zookeeper = zookeeper(Duration.ofSeconds(60));
        LockkeeperServer server = LockkeeperServer.start(config(zookeeper.connectString()))) {
      assertThat(server.awaitServing(LIMIT)).isTrue();
      ManagedChannel channel = channel(server);
      HealthGrpc.newStub(channel)
          .watch(
              HealthCheckRequest.getDefaultInstance(),
              telling(told, ended, health -> health.getStatus().toString()));
      LockServiceGrpc.newStub(channel)
          .session(telling(told, ended, response -> response.getResponseCase().toString()))
          .onNext(SessionRequest.newBuilder().setOpen(OpenSession.getDefaultInstance()).build());
      // When
      Set<String> before = new HashSet<>();
      while (!before.containsAll(Set.of("SERVING", "OPENED"))) {
        before.add(next(told));
      }
      server.stop();
      // Then
      assertThat(List.of(next(told), next(told))).containsExactly("NOT_SERVING", "GOING_AWAY");
      assertThat(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      channel.shutdownNow();
    }
  }

  private static String next(BlockingQueue<String> told) throws InterruptedException {
    return String.valueOf(told.poll(LIMIT.toSeconds(), TimeUnit.SECONDS));
  }

  private static <T> StreamObserver<T> telling(
      Queue<String> told, CountDownLatch ended, Function<T, String> inWords) {
    return new StreamObserver<>() {
      @Override
      public void onNext(T message) {
        told.add(inWords.apply(message));
      }

      @Override
      public void onError(Throwable cause) {
        ended.countDown();
      }

      @Override
      public void onCompleted() {
        ended.countDown();
      }
    };
  }

  @Test
  void directoryOfARunningServerIsRefused() {
    // Given
    Map<String, String> settings = Map.of("data-dir", directory.resolve("home").toString());
    try (LockkeeperServer server = LockkeeperServer.start(config("127.0.0.1:1", settings))) {
      assertThat(server.grpcPort()).isPositive();
      // When // Then
      assertThatExceptionOfType(StartException.class)
          .isThrownBy(() -> LockkeeperServer.start(config("127.0.0.1:1", settings)))
          .withMessageContaining("another process uses the data directory");
    }
    // And: it is given back
    try (LockkeeperServer next = LockkeeperServer.start(config("127.0.0.1:1", settings))) {
      assertThat(next.grpcPort()).isPositive();
    }
  }

  @Test
  void stopLeavesNoThreadBehindAndMayBeRepeated() throws IOException {
    // Given
    LockkeeperServer server = LockkeeperServer.start(config("127.0.0.1:" + closedPort()));
    // When
    server.stop();
    server.stop();
    // Then
    await()
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .noneMatch(name -> name.startsWith("lockkeeper")));
  }

  private static List<String> threadsThatSendSpans() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("BatchSpanProcessor"))
        .toList();
  }

  @Test
  void spansAreSentOnlyWhereAndWhileThatIsAskedFor() throws IOException {
    // Given
    String nowhere = "127.0.0.1:" + closedPort();
    // Then
    try (LockkeeperServer untraced = LockkeeperServer.start(config(nowhere))) {
      assertThat(untraced.grpcPort()).isPositive();
      assertThat(threadsThatSendSpans()).isEmpty();
    }
    try (LockkeeperServer traced =
        LockkeeperServer.start(config(nowhere, Map.of("traces", "http://" + nowhere)))) {
      assertThat(traced.grpcPort()).isPositive();
      assertThat(threadsThatSendSpans()).hasSize(1);
    }
    await().untilAsserted(() -> assertThat(threadsThatSendSpans()).isEmpty());
  }

  private EmbeddedZooKeeper zookeeper(Duration maxSessionTimeout) {
    return EmbeddedZooKeeper.start(
        directory,
        0,
        Duration.ofMillis(500),
        maxSessionTimeout,
        new CompletableFuture<>(),
        () -> {});
  }

  private static ServerConfig config(String zookeeper) {
    return config(zookeeper, Map.of());
  }

  private static ServerConfig config(String zookeeper, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>();
    settings.put("zookeeper", zookeeper);
    settings.put("listen", "127.0.0.1:0");
    settings.put("http", "127.0.0.1:0");
    settings.put("zookeeper-tick-time", "500ms");
    settings.putAll(more);
    return ServerConfig.of(Profile.SERVE, settings);
  }

  private static ManagedChannel channel(LockkeeperServer server) {
    return Grpc.newChannelBuilder(
            "localhost:" + server.grpcPort(), InsecureChannelCredentials.create())
        // What comes on two streams of a connection is heard in the order in which it comes.
        .directExecutor()
        .build();
  }

  private static String metrics(LockkeeperServer server) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.httpPort() + "/metrics"))
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
