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
   * Somebody wants to hear how locks change, or nobody does any more. At first changes are told.
   *
   * @param watched whether {@link Effect.Publish} is to be emitted from now on
   */
  record Watched(boolean watched) implements LifeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onWatched(this);
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
