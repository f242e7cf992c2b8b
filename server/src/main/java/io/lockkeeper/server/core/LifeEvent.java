package io.lockkeeper.server.core;

/** Something that happens to this coordinator as a whole. */
public sealed interface LifeEvent extends Event {

  /**
   * There are so many other coordinators.
   *
   * @param others how many
   */
  record PeersSeen(int others) implements LifeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onPeersSeen(this);
    }
  }

  /**
   * It is about to leave: it takes no new leases and adopts nobody's. Leases that are streams end
   * with their streams.
   */
  record Draining() implements LifeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onDraining(this);
    }
  }
}
