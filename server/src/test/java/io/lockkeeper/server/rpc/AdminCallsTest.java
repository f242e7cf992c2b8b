package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.Duration;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.lockkeeper.server.coordinator.api.ClusterView;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.StoreView;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceCloseLeaseResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import io.lockkeeper.v1.CoordinatorState;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.DrainResponse;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.FreezeResponse;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.GetClusterResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockSessionState;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UnfreezeResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AdminCallsTest {

  private static final String LONG = "x".repeat(1_025);

  @AutoClose private final InProcess server = new InProcess();

  private <A> CompletableFuture<A> calling(Function<AdminServiceBlockingStub, A> call) {
    return CompletableFuture.supplyAsync(() -> call.apply(server.admin()));
  }

  @Test
  void freezeIsPassedOnWithItsReasonAndDuration() {
    // When
    CompletableFuture<FreezeResponse> response =
        calling(
            admin ->
                admin.freeze(
                    FreezeRequest.newBuilder()
                        .setPrefix("orders/")
                        .setReason("migration")
                        .setDuration(Duration.newBuilder().setSeconds(90))
                        .build()));
    var asked = server.coordinator.freezes.next();
    asked.answer().complete(new Answer.FreezeChanged());
    // Then
    assertThat(response).succeedsWithin(java.time.Duration.ofSeconds(20));
    assertThat(asked.what().prefix()).isEqualTo("orders/");
    assertThat(asked.what().reason()).isEqualTo("migration");
    assertThat(asked.what().requester()).isNotEmpty();
    assertThat(asked.what().duration()).contains(java.time.Duration.ofSeconds(90));
  }

  @Test
  void unfreezeOfWhatIsNotFrozenIsNotFound() {
    // When
    CompletableFuture<UnfreezeResponse> response =
        calling(admin -> admin.unfreeze(UnfreezeRequest.newBuilder().setPrefix("a").build()));
    var asked = server.coordinator.thaws.next();
    asked.answer().completeExceptionally(ViewSamples.refused(Reason.NOT_FROZEN));
    // Then
    assertThat(asked.what()).isEqualTo("a");
    assertThat(response)
        .failsWithin(java.time.Duration.ofSeconds(20))
        .withThrowableThat()
        .withMessageContaining("NOT_FOUND");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("malformed")
  void whatIsMalformedIsRefusedByItsField(
      String field, String words, Consumer<AdminServiceBlockingStub> call) {
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(StatusRuntimeException.class, () -> call.accept(server.admin()));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(refused.getStatus().getDescription()).contains(field).contains(words);
  }

  static Stream<Arguments> malformed() {
    FreezeRequest.Builder freeze = FreezeRequest.newBuilder();
    AdminServiceCloseLeaseRequest.Builder close = AdminServiceCloseLeaseRequest.newBuilder();
    return Stream.of(
        row("prefix", "512", a -> a.freeze(freeze.clone().setPrefix("x".repeat(513)).build())),
        row("reason", "1024", a -> a.freeze(freeze.clone().setReason(LONG).build())),
        row("duration", "1 s to", a -> a.freeze(freeze.clone().setDuration(seconds(0)).build())),
        row(
            "duration",
            "31536000 s",
            a -> a.freeze(freeze.clone().setDuration(seconds(40_000_000)).build())),
        row(
            "prefix",
            "512",
            a -> a.unfreeze(UnfreezeRequest.newBuilder().setPrefix("x".repeat(513)).build())),
        row("lease", "empty", a -> a.closeLease(close.clone().build())),
        row("lease", "16", a -> a.closeLease(close.clone().setLease("12ab").build())),
        row(
            "reason",
            "1024",
            a -> a.closeLease(close.clone().setLease("0".repeat(16)).setReason(LONG).build())),
        row(
            "grace",
            "3600 s",
            a -> a.drain(DrainRequest.newBuilder().setGrace(seconds(4_000)).build())));
  }

  private static Duration seconds(long seconds) {
    return Duration.newBuilder().setSeconds(seconds).build();
  }

  private static Arguments row(
      String field, String words, Consumer<AdminServiceBlockingStub> call) {
    return arguments(field, words, call);
  }

  @Test
  void leaseIsClosedByItsTag() {
    // When
    CompletableFuture<AdminServiceCloseLeaseResponse> response =
        calling(
            admin ->
                admin.closeLease(
                    AdminServiceCloseLeaseRequest.newBuilder()
                        .setLease(ViewSamples.LEASE.tag())
                        .setReason("stuck")
                        .build()));
    var asked = server.coordinator.forcedLeases.next();
    asked.answer().complete(new Answer.LeaseClosed(true));
    // Then
    assertThat(asked.what().lease()).isEqualTo(new LeaseName.ByTag(ViewSamples.LEASE.tag()));
    assertThat(asked.what().reason()).isEqualTo("stuck");
    assertThat(response.join().getAlreadyEnded()).isTrue();
  }

  @Test
  void drainedCoordinatorIsNotServingToHealthButTheAdminServiceIs() {
    // Given
    await().until(() -> health(LockServiceGrpc.SERVICE_NAME) == ServingStatus.SERVING);
    // When
    CompletableFuture<DrainResponse> response =
        calling(admin -> admin.drain(DrainRequest.getDefaultInstance()));
    var asked = server.coordinator.drains.next();
    asked.answer().complete(3);
    // Then
    assertThat(asked.what()).isEqualTo(java.time.Duration.ofSeconds(30));
    assertThat(response.join().getLeasesLeft()).isEqualTo(3);
    assertThat(response.join().getPeers()).isZero();
    assertThat(health("")).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(health(LockServiceGrpc.SERVICE_NAME)).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(health(AdminServiceGrpc.SERVICE_NAME)).isEqualTo(ServingStatus.SERVING);
  }

  private ServingStatus health(String service) {
    return HealthGrpc.newBlockingStub(server.channel)
        .check(HealthCheckRequest.newBuilder().setService(service).build())
        .getStatus();
  }

  @Test
  void clusterShowsWhoServesWhatAndWhatIsFrozen() {
    // When
    CompletableFuture<GetClusterResponse> response =
        calling(admin -> admin.getCluster(GetClusterRequest.getDefaultInstance()));
    server.coordinator.clusters.next().answer().complete(sample());
    // Then
    GetClusterResponse cluster = response.join();
    assertThat(cluster.getCoordinatorId()).isEqualTo("c-1");
    assertThat(cluster.getCoordinatorsList())
        .extracting(CoordinatorState::getCoordinatorId, CoordinatorState::getServing)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("c-1", true),
            org.assertj.core.groups.Tuple.tuple("c-2", false));
    assertThat(cluster.getSessionsList())
        .extracting(LockSessionState::getSession, LockSessionState::getOrphaned)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("s-own", false),
            org.assertj.core.groups.Tuple.tuple("s-other", true));
    assertThat(cluster.getSessions(0).getLeases()).isEqualTo(7);
    assertThat(cluster.getSessions(1).hasLeases()).isFalse();
    assertThat(cluster.getOrphanCount()).isEqualTo(1);
    assertThat(cluster.getEnsemble().getConnectedTo()).isEqualTo("zk-1:2181");
    assertThat(cluster.getFrozen(0).getReason()).isEqualTo("why");
    assertThat(cluster.getFrozen(0).hasThawsIn()).isFalse();
  }

  private static ClusterView sample() {
    SessionKey key = new SessionKey(1);
    return new ClusterView(
        new StoreView(
            List.of(
                new StoreView.Member(new Peer("c-1", "one:7420"), 5),
                new StoreView.Member(new Peer("c-2", "two:7420"), 6)),
            List.of(
                new StoreView.Session("s-own", "c-1", 1, false, Optional.of(key)),
                new StoreView.Session("s-other", "c-9", 2, true, Optional.empty())),
            List.of("zk-1:2181"),
            Optional.of("zk-1:2181")),
        new CoreCounts(
            true,
            7,
            9,
            3,
            0,
            2,
            4,
            List.of(new CoreCounts.SessionCounts(key, true, true, 1_000, 7))),
        false,
        List.of(
            new FreezeView(new Freeze("a", "why", "ops", Optional.empty()), 7, Optional.empty())));
  }
}
