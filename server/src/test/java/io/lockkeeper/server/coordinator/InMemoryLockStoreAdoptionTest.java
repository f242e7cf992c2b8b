package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.memory.InMemoryCluster;
import io.lockkeeper.server.memory.InMemoryLockStore;

/** The fake hands sessions over as the real store does. */
final class InMemoryLockStoreAdoptionTest extends LockStoreAdoptionContract {

  private final InMemoryCluster cluster = new InMemoryCluster();

  @Override
  protected InMemoryLockStore start(String id, RecordedEvents events) {
    Peer self = new Peer(id, id + ".test:7420");
    InMemoryLockStore store = new InMemoryLockStore(cluster, self, System::nanoTime);
    store.start(events, RecordedEvents::onFailure);
    return store;
  }
}
