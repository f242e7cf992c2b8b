package io.lockkeeper.server.core;

/** Something that happened to one lock session. */
public sealed interface SessionEvent extends StoreEvent {

  /**
   * A lock session is open and has its claim record.
   *
   * @param session the session
   * @param timeoutNanos the timeout that ZooKeeper granted
   * @param provenAtNanos when the quorum write that proves it was sent, on the coordinator's
   *     monotonic clock
   */
  record SessionOpened(SessionKey session, long timeoutNanos, long provenAtNanos)
      implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionOpened(this);
    }
  }

  /**
   * A quorum write on a lock session was answered: the session was alive after the write was sent.
   *
   * @param session the session
   * @param sentAtNanos when the write was sent, on the coordinator's monotonic clock
   */
  record SessionProved(SessionKey session, long sentAtNanos) implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionProved(this);
    }
  }

  /**
   * A lock session has lost its connection; it may still be alive.
   *
   * @param session the session
   */
  record SessionSuspended(SessionKey session) implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionSuspended(this);
    }
  }

  /**
   * A lock session is gone from ZooKeeper with all its entries, or is closed, or belongs to another
   * coordinator now.
   *
   * @param session the session
   * @param deposed true if another coordinator has claimed it: its entries may live on
   */
  record SessionEnded(SessionKey session, boolean deposed) implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionEnded(this);
    }
  }
}
