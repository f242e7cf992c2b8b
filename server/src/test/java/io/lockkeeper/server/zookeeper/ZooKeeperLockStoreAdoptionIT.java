package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStoreAdoptionContract;
import io.lockkeeper.server.coordinator.RecordedEvents;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;

/** The contract of takeovers on a real ZooKeeper. */
@Tag("smoke")
final class ZooKeeperLockStoreAdoptionIT extends LockStoreAdoptionContract {

  @AutoClose private final Ensemble ensemble = Ensemble.shared();

  @Override
  protected ZooKeeperLockStore start(String id, RecordedEvents events) {
    return ensemble.store(id, events);
  }
}
