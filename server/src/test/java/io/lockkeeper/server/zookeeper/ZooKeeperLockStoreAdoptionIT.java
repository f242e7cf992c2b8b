package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.LockStoreAdoptionContract;
import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The contract of those who take over on a real ZooKeeper, below a root of its own each time. */
final class ZooKeeperLockStoreAdoptionIT extends LockStoreAdoptionContract {

  @TempDir static Path directory;

  private static Ensemble ensemble;
  private final RecordedEvents firstEvents = new RecordedEvents();
  private final RecordedEvents secondEvents = new RecordedEvents();
  private ZooKeeperLockStore first;
  private ZooKeeperLockStore second;

  @BeforeAll
  static void startServer() {
    ensemble = Ensemble.in(directory);
  }

  @AfterAll
  static void stopServer() throws Exception {
    ensemble.close();
  }

  @BeforeEach
  void startStores() {
    String root = "/lk-" + UUID.randomUUID();
    first = store(root, "one", firstEvents);
    second = store(root, "two", secondEvents);
  }

  private static ZooKeeperLockStore store(String root, String id, RecordedEvents events) {
    ZooKeeperSettings settings = Ensemble.settings(ensemble.server().connectString(), id);
    return ensemble.store(settings.withRoot(root), events);
  }

  @AfterEach
  void stopStores() {
    first.stop();
    second.stop();
  }

  @Override
  protected LockStore first() {
    return first;
  }

  @Override
  protected RecordedEvents firstEvents() {
    return firstEvents;
  }

  @Override
  protected LockStore second() {
    return second;
  }

  @Override
  protected RecordedEvents secondEvents() {
    return secondEvents;
  }
}
