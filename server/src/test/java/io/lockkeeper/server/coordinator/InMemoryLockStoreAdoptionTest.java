package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.memory.InMemoryCluster;
import io.lockkeeper.server.memory.InMemoryLockStore;
import org.junit.jupiter.api.BeforeEach;

/** The fake hands sessions over as the real store does. */
final class InMemoryLockStoreAdoptionTest extends LockStoreAdoptionContract {

  private final InMemoryCluster cluster = new InMemoryCluster();
  private final RecordedEvents firstEvents = new RecordedEvents();
  private final RecordedEvents secondEvents = new RecordedEvents();
  private final InMemoryLockStore first =
      new InMemoryLockStore(cluster, new Peer("one", "one.test:7420"), System::nanoTime);
  private final InMemoryLockStore second =
      new InMemoryLockStore(cluster, new Peer("two", "two.test:7420"), System::nanoTime);

  @BeforeEach
  void start() {
    first.start(firstEvents, RecordedEvents::onFailure);
    second.start(secondEvents, RecordedEvents::onFailure);
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
