package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Entries that another program deletes in ZooKeeper. */
final class RemovedEntryIT {

  private final Rig rig = Rig.shared();
  private final String lock = "removed/" + UUID.randomUUID();
  @AutoClose private final Znodes znodes = Znodes.at(rig.zookeeper().connectString());

  @AutoClose
  private final SessionStream session = SessionStream.open(rig.connect(), Duration.ofMinutes(2));

  private String held;

  @BeforeEach
  void oneHoldsAndOneWaits() {
    session.acquire(lock, "holds");
    session.await("holds", EventCase.GRANTED);
    held = znodes.entries(lock).get(0);
    session.acquire(lock, "waits");
    session.await("waits", EventCase.QUEUED);
  }

  @Test
  void waiterWhoseEntryIsDeletedIsNotified() {
    // Given
    String waiting =
        znodes.entries(lock).stream().filter(entry -> !entry.equals(held)).findAny().orElseThrow();
    // When
    znodes.delete(znodes.pathOf(lock) + "/" + waiting);
    // Then
    assertThat(
            session
                .await("waits", EventCase.NOT_ACQUIRED)
                .value()
                .getEvent()
                .getNotAcquired()
                .getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_REMOVED);
    assertThat(znodes.entries(lock)).isEqualTo(List.of(held));
  }

  @Test
  void holderWhoseEntryIsDeletedLosesTheLockAndTheNextIsGranted() {
    // When
    znodes.delete(znodes.pathOf(lock) + "/" + held);
    // Then
    assertThat(session.await("holds", EventCase.LOST).value().getEvent().getLost().getReason())
        .isEqualTo(LossReason.LOSS_REASON_REMOVED);
    session.await("waits", EventCase.GRANTED);
  }
}
