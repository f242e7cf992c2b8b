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
import org.junit.jupiter.api.Test;

/** Entries that somebody deletes in ZooKeeper, past every server. */
final class RemovedEntryIT {

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();

  @Test
  void waiterWhoseEntryIsDeletedIsToldAndNothingOfItIsLeft() {
    // Given
    String lock = "removed/waiter";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter");
        Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
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
  }

  @Test
  void holderWhoseEntryIsDeletedHasLostTheLockAndTheNextIsGranted() {
    // Given
    String lock = "removed/holder";
    try (Tenant holder = Tenant.of(channel, "holder");
        Tenant waiter = Tenant.of(channel, "waiter");
        Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
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
}
