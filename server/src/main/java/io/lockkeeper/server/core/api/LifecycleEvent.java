package io.lockkeeper.server.core.api;

/** Something that happens to this coordinator as a whole. */
public sealed interface LifecycleEvent extends Event {

  /**
   * So many other coordinators say that they are in contact with ZooKeeper and can renew leases.
   *
   * @param others how many
   */
  record PeersServing(int others) implements LifecycleEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onPeersServing(this);
    }
  }

  /**
   * It is about to leave: it takes no new leases and adopts nobody's. Leases that are streams end
   * with their streams.
   */
  record Draining() implements LifecycleEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onDraining(this);
    }
  }

  /**
   * Its sessions are handed over now: it renews no lease any more. What it has promised is recorded
   * ({@link StoreEffect.RecordPromises}).
   */
  record Leaving() implements LifecycleEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onLeaving(this);
    }
  }
}
