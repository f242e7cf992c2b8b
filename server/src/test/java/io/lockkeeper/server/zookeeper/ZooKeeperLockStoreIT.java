package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStore;
import io.lockkeeper.server.coordinator.LockStoreContract;
import io.lockkeeper.server.coordinator.RecordedEvents;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a real ZooKeeper. */
final class ZooKeeperLockStoreIT extends LockStoreContract {

  @TempDir static Path directory;

  private static Ensemble ensemble;
  private RecordedEvents events;
  private ZooKeeperLockStore store;

  @BeforeAll
  static void startServer() {
    ensemble = Ensemble.in(directory);
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
}
