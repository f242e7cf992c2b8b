package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStoreContract;
import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a real ZooKeeper. */
final class ZooKeeperLockStoreIT extends LockStoreContract {

  @TempDir static Path directory;

  private static Ensemble ensemble;
  private static ZooKeeper raw;
  private RecordedEvents events;
  private ZooKeeperLockStore store;

  @BeforeAll
  static void startServer() throws Exception {
    ensemble = Ensemble.in(directory);
    raw = ensemble.client();
  }

  @AfterAll
  static void stopServer() throws Exception {
    ensemble.close();
  }

  @BeforeEach
  void startStore() {
    events = new RecordedEvents();
    store = ensemble.store(events);
  }

  @AfterEach
  void stopStore() {
    store.stop();
  }

  @Override
  protected LockStore store() {
    return store;
  }

  @Override
  protected RecordedEvents events() {
    return events;
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
