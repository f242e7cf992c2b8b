package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.memory.InMemoryLockStore;
import java.time.Duration;

/**
 * The real coordinator on a store in memory that answers at once, for tests of those who call it.
 */
public final class CoordinatorInMemory implements AutoCloseable {

  private final InMemoryLockStore store = new InMemoryLockStore();
  private final LoopCoordinator coordinator =
      new LoopCoordinator(
          store, CoordinatorSettings.defaults(), CoordinatorObserver.NONE, why -> {});

  private CoordinatorInMemory() {}

  /** Starts one. */
  public static CoordinatorInMemory start() {
    CoordinatorInMemory started = new CoordinatorInMemory();
    started.coordinator.start();
    return started;
  }

  /** Returns the coordinator. */
  public Coordinator coordinator() {
    return coordinator;
  }

  @Override
  public void close() {
    try {
      coordinator.stop(Duration.ofSeconds(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    store.stop();
  }
}
