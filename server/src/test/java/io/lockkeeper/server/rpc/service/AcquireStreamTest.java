package io.lockkeeper.server.rpc.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Status.Code;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.rpc.InProcess;
import io.lockkeeper.server.rpc.Received;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.wire.Notices;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.testing.FakeCoordinator.Acquired;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.DeadlockCheck;
import io.lockkeeper.v1.Heartbeat;
import io.lockkeeper.v1.LockRequest;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AcquireStreamTest {

  @AutoClose private final InProcess server = new InProcess();
  private final Received<AcquireRequest, AcquireResponse> client = Received.all();

  private Acquired acquire(AcquireRequest.Builder request) {
    server.locks().acquire(request.build(), client);
    return server.coordinator.acquires.next();
  }

  private static AcquireRequest.Builder request() {
    return AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName("orders/42"));
  }

  @Test
  void quietStreamIsKeptOpenByHeartbeats() {
    // Given
    Acquired acquired = acquire(request());
    // When
    server.passQuietTime();
    // Then
    assertThat(client.next())
        .isEqualTo(
            AcquireResponse.newBuilder().setHeartbeat(Heartbeat.getDefaultInstance()).build());
    assertThat(acquired.command().lease()).isEmpty();
  }

  @Test
  void requestReachesTheCoordinatorWhole() {
    // When
    AcquireCommand command =
        acquire(
                request()
                    .setLeaseId(ViewSamples.LEASE.toString())
                    .setRequestId("req-1")
                    .setHolder("shop-1")
                    .putMetadata("pod", "a")
                    .setOwner("worker-1")
                    .setWaitTimeout(ProtoDurations.ofNanos(1_500_000_000L))
                    .setPositionInterval(ProtoDurations.ofNanos(100_000_000L))
                    .setMaxHold(ProtoDurations.ofNanos(200_000_000L))
                    .setLockDelay(ProtoDurations.ofNanos(3_001_000_000L))
                    .setDeadlockCheck(DeadlockCheck.DEADLOCK_CHECK_OFF))
            .command();
    // Then
    assertThat(command)
        .isEqualTo(
            new AcquireCommand(
                List.of(new AcquireCommand.WantedLock(ViewSamples.LOCK, MutexKind.EXCLUSIVE)),
                Optional.of(ViewSamples.LEASE),
                "worker-1",
                "req-1",
                Optional.of(Duration.ofMillis(1_500)),
                "shop-1",
                Map.of("pod", "a"),
                Optional.of(Duration.ofMillis(100)),
                Optional.of(Duration.ofMillis(200)),
                Duration.ofMillis(3_001),
                true,
                List.of(),
                false));
  }

  @Test
  void whatIsLeftOutIsFilledIn() {
    // When
    AcquireCommand command = acquire(request()).command();
    // Then
    assertThat(command.lease()).isEmpty();
    assertThat(command.requestId()).isNotEmpty();
    assertThat(command.holder()).isNotEmpty();
    assertThat(command.waitTimeout()).isEmpty();
    assertThat(command.positionInterval()).isEmpty();
    assertThat(command.owner()).isEmpty();
    assertThat(command.maxHold()).isEmpty();
    assertThat(command.lockDelay()).isZero();
    assertThat(command.unsearched()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "'', DEADLOCK_CHECK_UNSPECIFIED, true",
    "'', DEADLOCK_CHECK_ON, false",
    "'', DEADLOCK_CHECK_OFF, true",
    "thread-1, DEADLOCK_CHECK_UNSPECIFIED, false",
    "thread-1, DEADLOCK_CHECK_ON, false",
    "thread-1, DEADLOCK_CHECK_OFF, true"
  })
  void ownersAreSearchedForCyclesUnlessTheySayOtherwise(
      String owner, DeadlockCheck check, boolean unsearched) {
    // When
    AcquireCommand command = acquire(request().setOwner(owner).setDeadlockCheck(check)).command();
    // Then
    assertThat(command.unsearched()).isEqualTo(unsearched);
  }

  @Test
  void waitOfZeroIsNotAWaitWithoutEnd() {
    // When
    AcquireCommand command = acquire(request().setWaitTimeout(ProtoDurations.ofNanos(0))).command();
    // Then
    assertThat(command.waitTimeout()).contains(Duration.ZERO);
  }

  @Test
  void everyNoticeIsToldAsItsEvent() {
    // Given
    Acquired acquired = acquire(request());
    Notice granted =
        new Notice.Granted(
            ViewSamples.LEASE,
            List.of(
                new Notice.Grant(
                    ViewSamples.LOCK,
                    new FencingToken(77),
                    Optional.of(HoldEnd.SESSION_LOST),
                    3,
                    2)),
            1_500_000_000L);
    // When
    acquired.listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    acquired.listener().onNotice("req-1", 1, 2, new Notice.Position(ViewSamples.queued().places()));
    acquired.listener().onNotice("req-1", 1, 3, granted);
    acquired.listener().onNotice("req-1", 1, 4, new Notice.Jeopardy(2_000_000_000L));
    acquired.listener().onNotice("req-1", 1, 5, new Notice.Safe(3_000_000_000L));
    acquired
        .listener()
        .onNotice(
            "req-1",
            1,
            6,
            new Notice.ReleaseRequested(
                ViewSamples.LOCK, "bob", "maintenance", Optional.of(4_000_000_000L)));
    acquired
        .listener()
        .onNotice("req-1", 1, 7, new Notice.Contended(ViewSamples.LOCK, 3, Optional.empty()));
    acquired
        .listener()
        .onNotice("req-1", 1, 8, new Notice.Lost(Notice.LossReason.SESSION_LOST, ""));
    // Then
    assertThat(client.next().toString())
        .contains("request_id: \"req-1\"", "sequence: 1", "queued", "ahead: 1", "shop-1")
        .contains("name: \"orders/42\"", "fencing_token: 77", "held_for");
    assertThat(client.next().getPosition().getPositions(0).getAhead()).isEqualTo(1);
    assertThat(client.next().getGranted().toString())
        .contains("fencing_token: 77", "PREVIOUS_END_COORDINATOR_LOST", "hold_count: 3")
        .contains("waiters: 2")
        .contains(ViewSamples.LEASE.toString(), "seconds: 1", "nanos: 500000000");
    assertThat(client.next().getJeopardy().getValidFor().getSeconds()).isEqualTo(2);
    assertThat(client.next().getSafe().getValidFor().getSeconds()).isEqualTo(3);
    assertThat(client.next().getReleaseRequested().toString())
        .contains("orders/42", "bob", "maintenance", "seconds: 4");
    assertThat(client.next().getContended().toString()).contains("orders/42", "waiters: 3");
    AcquireResponse last = client.next();
    assertThat(last.getLost().getReason().name()).isEqualTo("LOSS_REASON_SESSION_LOST");
    assertThat(last.getLost().getMessage()).isNotEmpty();
    assertThat(last.getSequence()).isEqualTo(8);
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void placesInManySharedLocksFitTheStreamWhateverTheirHoldersSay() {
    // Given
    Contender wordy =
        ViewSamples.holder(ReadWriteKind.READ, "h".repeat(256), Map.of("k", "v".repeat(4_095)));
    Notice.Place place =
        new Notice.Place(ViewSamples.LOCK, 20, Collections.nCopies(20, wordy), Optional.empty());
    // When
    AcquireResponse.Builder event =
        Notices.toEvent("r", 1, 1, new Notice.Queued(Collections.nCopies(64, place)), lock -> true);
    // Then
    assertThat(event.getQueued().getPositionsList())
        .hasSize(64)
        .allSatisfy(position -> assertThat(position.getHoldersCount()).isEqualTo(16));
    assertThat(event.getQueued().getPositions(0).getHolders(0).getMetadataCount()).isEqualTo(1);
    assertThat(event.build().getSerializedSize()).isLessThan(GrpcLimits.DEFAULTS.streamBytes());
  }

  @Test
  void everyReasonHasItsName() {
    Set<Notice.LossReason> streamsEnded =
        EnumSet.of(Notice.LossReason.STREAM_BROKEN, Notice.LossReason.COORDINATOR_LEFT);
    for (Notice.LossReason reason : Notice.LossReason.values()) {
      var lost = Notices.toEvent("r", 1, 1, new Notice.Lost(reason, ""), lock -> true).getLost();
      // To its client, a stream that has ended is a lease that was closed.
      Notice.LossReason told =
          streamsEnded.contains(reason) ? Notice.LossReason.LEASE_CLOSED : reason;
      assertThat(lost.getReason().name()).isEqualTo("LOSS_REASON_" + told);
      assertThat(lost.getMessage()).isNotEmpty();
    }
    for (Notice.RefusalReason reason : Notice.RefusalReason.values()) {
      Notice notice =
          new Notice.NotAcquired(
              reason,
              "words",
              Optional.empty(),
              List.of(new LockName("a")),
              List.of(ViewSamples.holder()));
      AcquireResponse.Builder event = Notices.toEvent("r", 1, 1, notice, lock -> true);
      assertThat(event.getNotAcquired().getReason().name())
          .isEqualTo("NOT_ACQUIRED_REASON_" + reason);
      assertThat(event.getNotAcquired().getMessage()).isEqualTo("words");
      assertThat(event.getNotAcquired().getHoldersCount()).isEqualTo(1);
    }
  }

  @Test
  void everyEndOfTheHolderBeforeHasItsName() {
    Map<HoldEnd, String> names =
        Map.of(
            HoldEnd.RELEASED, "RELEASED",
            HoldEnd.CANCELLED, "CANCELLED",
            HoldEnd.WITHDRAWN, "UNSPECIFIED",
            HoldEnd.LEASE_ENDED, "LEASE_EXPIRED",
            HoldEnd.SESSION_LOST, "COORDINATOR_LOST",
            HoldEnd.FORCED, "FORCED",
            HoldEnd.LOST, "LOST",
            HoldEnd.UNKNOWN, "UNSPECIFIED");
    for (HoldEnd end : HoldEnd.values()) {
      Notice.Grant grant =
          new Notice.Grant(ViewSamples.LOCK, new FencingToken(77), Optional.of(end), 1, 0);
      Notice granted = new Notice.Granted(ViewSamples.LEASE, List.of(grant), 1);
      assertThat(
              Notices.toEvent("r", 1, 1, granted, lock -> true)
                  .getGranted()
                  .getGrants(0)
                  .getPreviousEnd()
                  .name())
          .isEqualTo("PREVIOUS_END_" + names.get(end));
    }
  }

  @Test
  void whoTookTheLockAwayAndWhyIsTold() {
    // Given
    Notice lost = new Notice.Lost(Notice.LossReason.FORCED, "taken by bob: maintenance");
    // When
    AcquireResponse.Builder event = Notices.toEvent("r", 1, 1, lost, lock -> true);
    // Then
    assertThat(event.getLost().getMessage()).isEqualTo("taken by bob: maintenance");
  }

  @Test
  void wishWithoutADeadlineHasNone() {
    // Given
    Notice wish = new Notice.ReleaseRequested(ViewSamples.LOCK, "bob", "", Optional.empty());
    // When
    AcquireResponse.Builder event = Notices.toEvent("r", 1, 1, wish, lock -> true);
    // Then
    assertThat(event.getReleaseRequested().hasDeadline()).isFalse();
  }

  @Test
  void expectedEndingIsAnEventAndThenOk() {
    // Given
    Acquired acquired = acquire(request());
    // When
    acquired.listener().onNotice("req-1", 1, 1, new Notice.Released());
    // Then
    assertThat(client.next().hasReleased()).isTrue();
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void refusedRequestEndsWithItsStatus() {
    // Given
    Acquired acquired = acquire(request());
    // When
    acquired.listener().onRefused(ViewSamples.refused(Reason.REQUEST_ID_IN_USE));
    // Then
    var end = client.end();
    assertThat(end.getCode()).isEqualTo(Code.FAILED_PRECONDITION);
    assertThat(end.getDescription()).contains("REQUEST_ID_IN_USE");
  }

  @Test
  void streamThatAnotherTookOverEndsAborted() {
    // Given
    Acquired acquired = acquire(request());
    // When
    acquired.listener().onSuperseded();
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.ABORTED);
  }

  @Test
  void clientThatHangsUpIsReportedAndWhatComesThenIsDropped() {
    // Given
    Acquired acquired = acquire(request());
    acquired.listener().onNotice("req-1", 1, 1, ViewSamples.queued());
    client.next();
    // When
    client.cancel();
    // Then
    assertThat(acquired.closed().next()).isEqualTo("cancelled");
    acquired.listener().onNotice("req-1", 1, 2, ViewSamples.granted());
    acquired.listener().onRefused(ViewSamples.refused(Reason.UNAVAILABLE));
    await().until(() -> server.services.openStreams() == 0);
    assertThat(client.messages.isEmpty()).isTrue();
  }

  @Test
  void deadlineOfTheClientCountsAsHangingUp() {
    // When
    server.locks().withDeadlineAfter(Duration.ofSeconds(2)).acquire(request().build(), client);
    Acquired acquired = server.coordinator.acquires.next();
    // Then
    assertThat(acquired.closed().next()).isEqualTo("closed");
  }

  @Test
  void clientThatDoesNotReadIsCutOffBeforeItCostsMemory() {
    // Given
    Received<AcquireRequest, AcquireResponse> deaf = Received.nothing();
    server.locks().acquire(request().build(), deaf);
    Acquired acquired = server.coordinator.acquires.next();
    // When
    for (int i = 1; i <= 1_000; i++) {
      acquired.listener().onNotice("req-1", 1, i, ViewSamples.queued());
    }
    // Then
    assertThat(acquired.closed().next()).isEqualTo("closed");
    deaf.read(2_000);
    assertThat(deaf.end().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(deaf.messages.size()).isLessThan(1_000);
  }

  @Test
  void clientThatReadsLateGetsAllInOrder() {
    // Given
    Received<AcquireRequest, AcquireResponse> late = Received.nothing();
    server.locks().acquire(request().build(), late);
    Acquired acquired = server.coordinator.acquires.next();
    for (int i = 1; i <= 5; i++) {
      acquired.listener().onNotice("req-1", 1, i, ViewSamples.queued());
    }
    // When
    late.read(100);
    // Then
    for (int i = 1; i <= 5; i++) {
      assertThat(late.next().getSequence()).isEqualTo(i);
    }
  }

  @Test
  void endpointThatStopsEndsTheStreamWithAReason() {
    // Given
    Acquired acquired = acquire(request());
    // When
    server.services.goAway("coordinator c-1 is stopping");
    // Then
    var end = client.end();
    assertThat(end.getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(end.getDescription()).isEqualTo("coordinator c-1 is stopping");
    assertThat(acquired.closed().next()).isEqualTo("closed");
  }
}
