package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Channel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import io.lockkeeper.v1.CoordinatorState;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.DrainResponse;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.FreezeResponse;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.GetClusterResponse;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockSessionState;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UnfreezeResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What operators do at one coordinator, and what becomes of it at both. */
final class OperatorsIT {

  private static final Duration GRACE = Duration.ofMinutes(1);

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  private static AdminServiceBlockingStub admin(int index) {
    return AdminServiceGrpc.newBlockingStub(cluster.connect(index));
  }

  private static void freeze(int index, String prefix) {
    FreezeResponse unused =
        admin(index)
            .freeze(FreezeRequest.newBuilder().setPrefix(prefix).setReason("migration").build());
  }

  private static void unfreeze(int index, String prefix) {
    UnfreezeResponse unused =
        admin(index).unfreeze(UnfreezeRequest.newBuilder().setPrefix(prefix).build());
  }

  private static NotAcquired tried(Channel channel, String lock) {
    Asking asking = Asking.with(channel, Asking.request(lock, Duration.ZERO).build());
    return asking.await(EventCase.NOT_ACQUIRED).value().getNotAcquired();
  }

  private static GetClusterResponse look(int index) {
    return admin(index).getCluster(GetClusterRequest.getDefaultInstance());
  }

  @Test
  @Tag("smoke")
  void nobodyNewIsGrantedAFrozenLockAtAnyCoordinatorAndHoldersKeepIt() {
    // Given
    Asking holder = Asking.forLock(cluster.connect(0), "ops/frozen/a");
    final long token = holder.awaitToken();
    Asking waiter = Asking.forLock(cluster.connect(1), "ops/frozen/a");
    waiter.await(EventCase.QUEUED);

    // When
    freeze(0, "ops/frozen/");
    NotAcquired refused = tried(cluster.connect(1), "ops/frozen/b");

    // Then: nobody who asks after the answer is granted, at whichever coordinator
    assertThat(refused.getReason()).isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
    assertThat(refused.getMessage()).contains("ops/frozen/b", "migration");
    waiter
        .events()
        .await(
            "a place that says why",
            r ->
                r.hasPosition()
                    && r.getPosition().getPositions(0).getFrozen().getReason().equals("migration"));
    assertThat(Asking.holderTokens(cluster.connect(0), "ops/frozen/a")).containsExactly(token);
    // When
    holder.release();
    NotAcquired again = tried(cluster.connect(0), "ops/frozen/a");
    // Then
    assertThat(again.getMessage()).contains("migration");
    assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
    // When
    unfreeze(1, "ops/frozen/");
    // Then
    assertThat(waiter.awaitToken()).isGreaterThan(token);
  }

  @Test
  void freezeOutlivesTheRestartOfAllCoordinators() {
    // Given
    freeze(0, "ops/kept/");
    // When
    cluster.seats().forEach(Seat::kill);
    cluster.seats().forEach(Seat::launch);
    cluster.awaitServing();
    // Then
    for (int index : List.of(0, 1)) {
      assertThat(tried(cluster.connect(index), "ops/kept/x").getMessage()).contains("migration");
      assertThat(look(index).getFrozenList()).extracting(Frozen::getPrefix).contains("ops/kept/");
    }
    unfreeze(1, "ops/kept/");
    assertThat(Asking.forLock(cluster.connect(0), "ops/kept/x").awaitToken()).isPositive();
  }

  @Test
  void holderComesBackToItsLockInAFreezeAndItsTokenStaysCurrent() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(0))) {
      final long token = holder.take("held", "ops/taken/a");
      waiter.queue("waits", "ops/taken/a");
      freeze(1, "ops/taken/");
      // When
      cluster.seat(0).kill();
      waiter.moveTo(cluster.connect(1));
      holder.moveTo(cluster.connect(1));
      // Then
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      assertThat(Asking.holderTokens(cluster.connect(1), "ops/taken/a")).containsExactly(token);
      holder.release("held");
      assertThat(tried(cluster.connect(1), "ops/taken/a").getMessage()).contains("migration");
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      // When
      unfreeze(1, "ops/taken/");
      // Then
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  void freezeWithADurationThawsByItself() {
    // Given
    FreezeResponse unused =
        admin(0)
            .freeze(
                FreezeRequest.newBuilder()
                    .setPrefix("ops/short/")
                    .setDuration(Guest.proto(Duration.ofSeconds(5)))
                    .build());
    Asking waiter = Asking.forLock(cluster.connect(1), "ops/short/a");
    AcquireResponse queued = waiter.await(EventCase.QUEUED).value();
    // When: nobody does anything
    long token = waiter.awaitToken();
    // Then
    assertThat(queued.getQueued().getPositions(0).hasFrozen()).isTrue();
    assertThat(token).isPositive();
    StatusRuntimeException over =
        catchThrowableOfType(StatusRuntimeException.class, () -> unfreeze(0, "ops/short/"));
    assertThat(over.getStatus().getCode()).isEqualTo(Code.NOT_FOUND);
  }

  @Test
  void thousandsWhoWaitAreDecidedWhenThePrefixThaws() {
    // Given
    int locks = 2_000;
    freeze(0, "ops/many/");
    try (Guest one = Guest.at(cluster.connect(0));
        Guest other = Guest.at(cluster.connect(1))) {
      for (int i = 0; i < locks; i++) {
        (i % 2 == 0 ? one : other).ask("r" + i, "ops/many/" + i);
      }
      for (int i = 0; i < locks; i++) {
        (i % 2 == 0 ? one : other).await("r" + i, EventCase.QUEUED);
      }
      // When
      unfreeze(1, "ops/many/");
      // Then
      IntStream.range(0, locks)
          .forEach(i -> assertThat((i % 2 == 0 ? one : other).awaitToken("r" + i)).isPositive());
    }
  }

  @Test
  void leaseIsClosedByItsIdAndByItsTagAtACoordinatorThatDoesNotServeIt() {
    try (Guest byId = Guest.at(cluster.connect(0));
        Guest byTag = Guest.at(cluster.connect(0))) {
      // Given
      byId.take("held", "ops/closed/a");
      byTag.take("held", "ops/closed/b");
      // When
      close(1, byId.leaseId());
      close(1, byTag.leaseId().substring(0, 16));
      // Then
      for (Guest guest : List.of(byId, byTag)) {
        AcquireResponse lost = guest.await("held", EventCase.LOST);
        assertThat(lost.getLost().getReason()).isEqualTo(LossReason.LOSS_REASON_FORCED);
        assertThat(lost.getLost().getMessage()).contains("stuck");
        SessionResponse ended =
            guest.stream().await("the end", SessionResponse::hasLeaseEnded).value();
        assertThat(ended.getLeaseEnded().getReason())
            .isEqualTo(LeaseEndReason.LEASE_END_REASON_FORCED);
        assertThat(ended.getLeaseEnded().getMessage()).contains("stuck");
      }
      assertThat(Asking.forLock(cluster.connect(1), "ops/closed/a").awaitToken()).isPositive();
    }
  }

  @Test
  void leaseThatIsACallIsClosedAtACoordinatorThatDoesNotServeIt() {
    // Given
    Asking stream = Asking.forLock(cluster.connect(0), "ops/closed/stream");
    String lease = stream.awaitGrant().getLeaseId();
    // When
    close(1, lease.substring(0, 16));
    // Then
    assertThat(stream.await(EventCase.LOST).value().getLost().getReason())
        .isEqualTo(LossReason.LOSS_REASON_FORCED);
  }

  private static void close(int index, String lease) {
    boolean ended =
        admin(index)
            .closeLease(
                AdminServiceCloseLeaseRequest.newBuilder()
                    .setLease(lease)
                    .setReason("stuck")
                    .build())
            .getAlreadyEnded();
    assertThat(ended).isFalse();
  }

  @Test
  @Tag("smoke")
  void drainUnderLoadCostsNoLockAndTheDrainedProcessAnswersReadsAndOperators()
      throws IOException, InterruptedException {
    // Given
    try (Load load = Load.start(cluster.addresses(), 8, Guest.TTL, "ops/drained")) {
      // When
      DrainResponse drained =
          admin(0).drain(DrainRequest.newBuilder().setGrace(Guest.proto(GRACE)).build());
      final DrainResponse again = admin(0).drain(DrainRequest.getDefaultInstance());
      load.awaitTurns();

      // Then
      assertThat(drained.getLeasesLeft()).isZero();
      assertThat(drained.getPeers()).isEqualTo(1);
      assertThat(again.getLeasesLeft()).isZero();
      assertThat(load.violations()).isEmpty();
      assertThat(load.losses()).isEmpty();
      assertThat(ready(0)).contains("drained");
      assertThat(look(0).getCoordinatorsList())
          .filteredOn(CoordinatorState::getDraining)
          .extracting(CoordinatorState::getCoordinatorId)
          .containsExactly(look(0).getCoordinatorId());
      String kept = load.locks(true).iterator().next();
      assertThat(
              LockServiceGrpc.newBlockingStub(cluster.connect(0))
                  .getLock(GetLockRequest.newBuilder().setName(kept).build())
                  .getLock()
                  .getHoldersCount())
          .isEqualTo(1);
    }
    // And
    assertThat(cluster.seat(0).terminate()).isIn(0, 143);
  }

  private static String ready(int index) throws IOException, InterruptedException {
    URI uri =
        URI.create("http://127.0.0.1:" + cluster.seat(index).process().httpPort() + "/readyz");
    HttpResponse<String> response =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(503);
    return response.body();
  }

  @Test
  void clusterShowsATakeover() {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0))) {
      holder.take("held", "ops/cluster");
      String dead = look(0).getCoordinatorId();
      String heir = look(1).getCoordinatorId();
      List<String> sessions =
          await().until(() -> sessionsWithLeases(0, dead), found -> !found.isEmpty());
      // When
      cluster.seat(0).kill();
      // Then
      await().until(() -> sessionsWithLeases(1, heir).stream().anyMatch(sessions::contains));
      await().until(() -> look(1).getOrphanCount() == 0);
      await()
          .until(
              () ->
                  look(1).getCoordinatorsList().stream()
                      .map(CoordinatorState::getCoordinatorId)
                      .toList()
                      .equals(List.of(heir)));
      assertThat(look(1).getEnsemble().getConnectedTo()).isNotEmpty();
      holder.moveTo(cluster.connect(1));
    }
  }

  /** Returns the sessions that a coordinator says another one, or itself, serves leases on. */
  private static List<String> sessionsWithLeases(int index, String coordinator) {
    return look(index).getSessionsList().stream()
        .filter(one -> one.getCoordinatorId().equals(coordinator) && one.getLeases() > 0)
        .filter(one -> !one.getOrphaned())
        .map(LockSessionState::getSession)
        .toList();
  }
}
