package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.memory.InMemoryLockStore;
import org.junit.jupiter.api.BeforeEach;

/** The fake keeps the same contract as the real store, so that tests on it do not lie. */
final class InMemoryLockStoreTest extends LockStoreContract {

  private final InMemoryLockStore store = new InMemoryLockStore();

  @BeforeEach
  void start() {
    store.start(events, RecordedEvents::onFailure);
  }

  @Override
  protected LockStore store() {
    return store;
  }

  @Override
  protected void revokeAsCuratorDoes(LockName lock, EntryName entry) {
    store.revokeAsCuratorDoes(lock, entry.text());
  }
}
