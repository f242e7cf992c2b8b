package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LockStore;
import org.junit.jupiter.api.BeforeEach;

/** The fake hands sessions over as the real store does. */
final class FakeLockStoreAdoptionTest extends LockStoreAdoptionContract {

  private final FakeCluster cluster = new FakeCluster();
  private final RecordedEvents firstEvents = new RecordedEvents();
  private final RecordedEvents secondEvents = new RecordedEvents();
  private final FakeLockStore first = new FakeLockStore(cluster, "one");
  private final FakeLockStore second = new FakeLockStore(cluster, "two");

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
