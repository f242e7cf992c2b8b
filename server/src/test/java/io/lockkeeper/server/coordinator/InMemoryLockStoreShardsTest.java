package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.memory.InMemoryLockStore;
import org.junit.jupiter.api.BeforeEach;

/** The contract in memory. */
final class InMemoryLockStoreShardsTest extends LockStoreShardsContract {

  private final InMemoryLockStore store = new InMemoryLockStore();

  @BeforeEach
  void start() {
    store.start(events, RecordedEvents::onFailure);
  }

  @Override
  protected LockStore store() {
    return store;
  }
}
