package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStoreContract;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;

/** The contract on a real ZooKeeper. */
@Tag("smoke")
final class ZooKeeperLockStoreIT extends LockStoreContract {

  @AutoClose private static final Ensemble ensemble = Ensemble.shared();
  private static final ZooKeeper raw = ensemble.client();

  @AutoClose("stop")
  private final ZooKeeperLockStore store = ensemble.store(events);

  @Override
  protected LockStore store() {
    return store;
  }

  @Override
  protected void revokeAsCuratorDoes(LockName lock, EntryName entry) {
    byte[] revoked = "__REVOKE__".getBytes(StandardCharsets.US_ASCII);
    try {
      raw.setData("/lk/locks/" + lock.encoded() + "/" + entry, revoked, -1);
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
