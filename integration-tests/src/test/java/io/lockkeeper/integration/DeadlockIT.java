package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.OpenSession;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Clients of two coordinators that wait for each other. */
final class DeadlockIT {

  private static final Duration TTL = Duration.ofMinutes(1);

  @AutoClose
  private static final ServerProcess otherServer =
      ServerProcess.start(Rig.shared().zookeeper().connectString());

  private final ManagedChannel here = Rig.shared().connect();
  private final ManagedChannel there = otherServer.connect();

  @Test
  void youngestOfACycleAcrossCoordinatorsIsRefusedWithTheCycleSpelledOut() {
    // Given
    SessionStream first = holding(here, "first", "deadlock/a", "main");
    SessionStream second = holding(there, "second", "deadlock/b", "main");
    acquireAs(first, "main", "deadlock/b", "wants b");
    first.await("wants b", EventCase.QUEUED);

    // When
    acquireAs(second, "main", "deadlock/a", "wants a");

    // Then
    NotAcquired refusal =
        second.await("wants a", EventCase.NOT_ACQUIRED).value().getEvent().getNotAcquired();
    assertThat(refusal.getReason()).isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(refusal.getMessage()).contains("deadlock/a", "deadlock/b", "first", "second");
    second.release("holds deadlock/b");
    first.await("wants b", EventCase.GRANTED);
    first.close();
    second.close();
  }

  private static SessionStream holding(
      ManagedChannel server, String holder, String lock, String owner) {
    SessionStream session =
        SessionStream.with(
            server,
            OpenSession.newBuilder()
                .setHolder(holder)
                .setTtl(Durations.fromSeconds(TTL.toSeconds()))
                .build());
    session.awaitOpened();
    acquireAs(session, owner, lock, "holds " + lock);
    session.await("holds " + lock, EventCase.GRANTED);
    return session;
  }

  private static void acquireAs(
      SessionStream session, String owner, String lock, String requestId) {
    session.acquire(Asking.request(lock).setOwner(owner).setRequestId(requestId).build());
  }
}
