package io.lockkeeper.integration;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.NOT_SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.KeepAlives;
import io.lockkeeper.integration.harness.KeepAlives.Acknowledged;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Timed.Arrival;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A coordinator that loses ZooKeeper to a network which swallows everything: connections open,
 * nothing is answered, and nobody tells the coordinator that its session has expired.
 */
final class CutOffIT {

  private static final int SESSION_SECONDS = 20;
  private static final Duration KEEP_ALIVE = Duration.ofMillis(200);

  private static final Rig rig = Rig.shared();

  @AutoClose private static final ByteProxy network = ByteProxy.to(rig.zookeeper().port());

  /** With the tick of production, half of which lies between a loss and the end of the session. */
  @AutoClose
  private static final ServerProcess server =
      ServerProcess.start(
          network.address(),
          "--root=/cut-off",
          "--zookeeper-sync-limit=2",
          "--lock-session-timeout=" + SESSION_SECONDS + "s",
          "--member-session-timeout=5s");

  @AutoClose
  private static final Znodes znodes = Znodes.at(rig.zookeeper().connectString(), "/cut-off/locks");

  private final ManagedChannel channel = server.connect();

  @BeforeEach
  void whole() {
    network.heal();
    Asking.retryUntilGranted(channel, "cut/probe").hangUp();
  }

  @Test
  void everyHolderHearsLostBeforeAnybodyElseCanHold() throws Exception {
    // Given
    SessionStream session = SessionStream.open(channel, Duration.ofSeconds(60));
    session.awaitOpened();
    session.acquire("cut/lease", "lease");
    session.await("lease", EventCase.GRANTED);
    Asking stream = Asking.forLock(channel, "cut/stream");
    stream.awaitGrant();
    CompletableFuture<Long> leaseEntryGone = znodes.deletionOf(entryOf("cut/lease"));
    CompletableFuture<Long> streamEntryGone = znodes.deletionOf(entryOf("cut/stream"));

    try (KeepAlives keepAlives = KeepAlives.of(session, KEEP_ALIVE)) {
      // When
      network.blackhole();

      // Then
      Arrival<AcquireResponse> jeopardy = stream.await(EventCase.JEOPARDY);
      assertThat(jeopardy.value().getJeopardy().getValidFor().getSeconds())
          .isLessThan(SESSION_SECONDS);
      Arrival<AcquireResponse> streamLost = stream.await(EventCase.LOST);
      Arrival<SessionResponse> leaseLost = session.await("lease", EventCase.LOST);
      assertThat(List.of(streamLost.value(), leaseLost.value().getEvent()))
          .allMatch(lost -> lost.getLost().getReason() == LossReason.LOSS_REASON_SESSION_LOST);
      server.awaitHealth(NOT_SERVING);
      long streamGoneNanos = streamEntryGone.get(1, TimeUnit.MINUTES);
      long leaseGoneNanos = leaseEntryGone.get(1, TimeUnit.MINUTES);
      assertThat(streamLost.nanos()).isLessThan(streamGoneNanos);
      assertThat(leaseLost.nanos()).isLessThan(leaseGoneNanos);
      List<Acknowledged> acknowledged = keepAlives.acknowledged();
      assertThat(acknowledged)
          .isNotEmpty()
          .allMatch(promise -> promise.validUntilNanos() < leaseGoneNanos, "promises end in time")
          .allMatch(ok -> ok.answeredNanos() <= leaseLost.nanos(), "none after the loss");
    }

    // And when it heals, it serves again
    network.heal();
    Asking.retryUntilGranted(channel, "cut/stream").hangUp();
  }

  @Test
  @Tag("smoke")
  void aShortCutIsJeopardyAndThenSafeAndTheLockIsKept() {
    // Given
    Asking holder = Asking.forLock(channel, "cut/short");
    long token = holder.awaitToken();

    // When
    network.blackhole();
    holder.await(EventCase.JEOPARDY);
    network.heal();

    // Then
    holder.await(EventCase.SAFE);
    assertThat(holder.find(EventCase.LOST)).isEmpty();
    Asking second = Asking.forLock(channel, "cut/short");
    second.await(EventCase.QUEUED);
    holder.release();
    assertThat(second.awaitToken()).isGreaterThan(token);
    second.hangUp();
  }

  @Test
  @Tag("smoke")
  void nothingIsGrantedWhileCutOffAndTheWaiterGetsTheLockAfterwards() {
    // Given
    String foreign = znodes.queueForeignEntry("cut/waiter");
    Asking waiter = Asking.forLock(channel, "cut/waiter");
    waiter.await(EventCase.QUEUED);
    network.blackhole();
    Asking witness = Asking.forLock(channel, "cut/witness");

    // When
    znodes.delete(foreign);
    server.awaitHealth(NOT_SERVING);
    final long healedNanos = System.nanoTime();
    boolean grantedWhileCut = waiter.find(EventCase.GRANTED).isPresent();
    network.heal();

    // Then
    assertThat(grantedWhileCut).isFalse();
    Arrival<AcquireResponse> outcome =
        waiter.events().await("outcome", r -> r.hasGranted() || r.hasNotAcquired());
    assertThat(outcome.nanos()).isGreaterThan(healedNanos);
    if (outcome.value().hasGranted()) {
      assertThat(znodes.entries("cut/waiter")).hasSize(1);
    }
    waiter.hangUp();
    witness.hangUp();
  }

  private static String entryOf(String lock) {
    List<String> entries = znodes.entries(lock);
    assertThat(entries).hasSize(1);
    return znodes.pathOf(lock) + "/" + entries.get(0);
  }
}
