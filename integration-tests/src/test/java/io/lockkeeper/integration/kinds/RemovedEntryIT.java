package io.lockkeeper.integration.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Entries that somebody deletes in ZooKeeper, past every server. */
final class RemovedEntryIT {

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();
  @AutoClose private final Tenant holder = Tenant.of(channel, "holder");
  @AutoClose private final Tenant waiter = Tenant.of(channel, "waiter");
  @AutoClose private final Znodes znodes = Znodes.at(rig.zookeeper().connectString());

  @Test
  void waiterWhoseEntryIsDeletedIsToldAndNothingOfItIsLeft() {
    // Given
    String lock = "removed/waiter";
    holder.ask("h", "", Tenant.mutex(lock));
    List<String> before = znodes.entries(lock);
    waiter.ask("w", "", Tenant.mutex(lock));
    List<String> added = new ArrayList<>(znodes.entries(lock));
    added.removeAll(before);

    // When
    znodes.delete(znodes.pathOf(lock) + "/" + added.get(0));

    // Then
    assertThat(waiter.awaitNotAcquired("w").getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_REMOVED);
    assertThat(znodes.entries(lock)).hasSameElementsAs(before);
    holder.release("h");
    assertThat(waiter.ask("again", "", Tenant.mutex(lock))).isEqualTo(EventCase.GRANTED);
  }

  @Test
  void levelWhoseEntryIsDeletedIsLostAndTheOthersHoldOn() {
    // Given
    String lock = "removed/level";
    holder.ask("outer", "task", Tenant.mutex(lock));
    String outer = znodes.entries(lock).get(0);
    holder.ask("inner", "task", Tenant.mutex(lock));
    Awaitility.await().until(() -> znodes.entries(lock).size() == 2);
    waiter.ask("w", "", Tenant.mutex(lock));

    // When
    znodes.delete(znodes.pathOf(lock) + "/" + outer);

    // Then
    assertThat(holder.await("outer", EventCase.LOST).getLost().getReason())
        .isEqualTo(LossReason.LOSS_REASON_REMOVED);
    assertThat(holder.ask("another", "task", Tenant.mutex(lock))).isEqualTo(EventCase.GRANTED);
    assertThat(holder.hasHeard("inner", EventCase.LOST)).isFalse();
    assertThat(waiter.hasHeard("w", EventCase.GRANTED)).isFalse();
    holder.release("another");
    holder.release("inner");
    waiter.awaitGrant("w");
  }

  @Test
  void holderWhoseEntryIsDeletedHasLostTheLockAndTheNextIsGranted() {
    // Given
    String lock = "removed/holder";
    holder.ask("h", "", Tenant.permits(lock, 2, 2));
    String entry = znodes.entries(lock).get(0);
    waiter.ask("w", "", Tenant.permits(lock, 1, 2));

    // When
    znodes.delete(znodes.pathOf(lock) + "/" + entry);

    // Then
    assertThat(holder.await("h", EventCase.LOST).getLost().getReason())
        .isEqualTo(LossReason.LOSS_REASON_REMOVED);
    waiter.awaitGrant("w");
  }
}
