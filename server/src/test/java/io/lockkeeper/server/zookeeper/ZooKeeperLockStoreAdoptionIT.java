package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStoreAdoptionContract;
import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;

/** The contract of those who take over on a real ZooKeeper, below a root of its own each time. */
final class ZooKeeperLockStoreAdoptionIT extends LockStoreAdoptionContract {

  @AutoClose private static final Ensemble ensemble = Ensemble.start();

  private final String root = "/lk-" + UUID.randomUUID();

  @Override
  protected ZooKeeperLockStore start(String id, RecordedEvents events) {
    ZooKeeperSettings settings = Ensemble.settings(ensemble.server().connectString(), id);
    return ensemble.store(settings.withRoot(root), events);
  }
}
