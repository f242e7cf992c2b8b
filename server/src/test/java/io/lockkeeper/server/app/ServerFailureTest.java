package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.FatalFailure;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.Kind;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.Occupancy;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole server in somebody's process, in whose core something throws. */
class ServerFailureTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path directory;

  /** A mode of a lock with a bug. */
  private static final class FaultyMode implements Mode {
    @Override
    public Kind kind() {
      throw new IllegalStateException("a bug");
    }

    @Override
    public String marker() {
      throw new IllegalStateException("a bug");
    }

    @Override
    public boolean joins(Occupancy ahead) {
      throw new IllegalStateException("a bug");
    }
  }

  @Test
  void serverWhoseCoreThrowsServesNobodyAnyMoreAndLeavesItsSessionsAsTheyAre() throws Exception {
    // Given
    List<FatalFailure> breakdowns = new CopyOnWriteArrayList<>();
    try (EmbeddedZooKeeper zookeeper =
            EmbeddedZooKeeper.start(
                directory, 0, Duration.ofMillis(500), Duration.ofSeconds(60), () -> {});
        LockkeeperServer server =
            LockkeeperServer.start(config(zookeeper.connectString()), breakdowns::add)) {
      assertThat(server.awaitServing(LIMIT)).isTrue();
      ManagedChannel channel =
          Grpc.newChannelBuilder(
                  "localhost:" + server.grpcPort(), InsecureChannelCredentials.create())
              .build();
      Iterator<AcquireResponse> events =
          LockServiceGrpc.newBlockingStub(channel)
              .acquire(
                  AcquireRequest.newBuilder()
                      .addLocks(LockRequest.newBuilder().setName("orders-42"))
                      .build());
      assertThat(events.next().hasGranted()).isTrue();
      await().until(() -> health(channel) == ServingStatus.SERVING);
      // When
      server.coordinator().acquire(faulty(), new Deaf());
      // Then: who holds is told by the end of the stream, and who asks by the status
      assertThatExceptionOfType(StatusRuntimeException.class)
          .isThrownBy(events::next)
          .satisfies(e -> assertThat(e.getStatus().getCode()).isEqualTo(Code.UNAVAILABLE));
      assertThatExceptionOfType(StatusRuntimeException.class)
          .isThrownBy(
              () ->
                  LeaseServiceGrpc.newBlockingStub(channel)
                      .openLease(OpenLeaseRequest.getDefaultInstance()))
          .satisfies(e -> assertThat(e.getStatus().getCode()).isEqualTo(Code.UNAVAILABLE));
      await().until(() -> health(channel) == ServingStatus.NOT_SERVING);
      HttpResponse<String> ready = get(server, "/readyz");
      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(ready.body()).contains("in doubt");
      assertThat(server.failure().get(60, TimeUnit.SECONDS)).contains("in doubt");
      assertThat(breakdowns).containsExactly(FatalFailure.STATE_IN_DOUBT);
      server.stop();
      assertThat(children(zookeeper.connectString(), "/lockkeeper/locks/orders-42")).hasSize(1);
      assertThat(children(zookeeper.connectString(), "/lockkeeper/coordinators")).hasSize(1);
      channel.shutdownNow();
    }
  }

  /** Does not listen. */
  private static final class Deaf implements Coordinator.AcquisitionListener {
    @Override
    public void onNotice(String requestId, long epoch, long sequence, Notice notice) {}

    @Override
    public void onRefused(RefusedException why) {}

    @Override
    public void onSuperseded() {}
  }

  private static AcquireCommand faulty() {
    return Wish.named("a").lock("faulty", new FaultyMode()).command(Optional.empty());
  }

  private static ServerConfig config(String zookeeper) {
    return ServerConfig.of(
        Profile.SERVE,
        Map.of(
            "zookeeper", zookeeper,
            "listen", "127.0.0.1:0",
            "http", "127.0.0.1:0",
            "zookeeper-tick-time", "500ms"));
  }

  private static ServingStatus health(ManagedChannel channel) {
    return HealthGrpc.newBlockingStub(channel)
        .check(HealthCheckRequest.getDefaultInstance())
        .getStatus();
  }

  private static HttpResponse<String> get(LockkeeperServer server, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.httpPort() + path)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static List<String> children(String connect, String path) throws Exception {
    try (ZooKeeper client = new ZooKeeper(connect, 10_000, event -> {})) {
      return client.getChildren(path, false);
    }
  }
}
