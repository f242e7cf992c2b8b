package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.EntryUpdate;

/** What came of a change that no lock session carries. */
public sealed interface UpdateEvent extends StoreEvent {

  /**
   * An amendment was made, or could not be.
   *
   * @param amendment its number
   * @param outcome what came of it
   */
  record AmendmentAnswered(long amendment, EntryUpdate.Outcome outcome) implements UpdateEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onAmendmentAnswered(this);
    }
  }

  /**
   * A lock's limit was set, or could not be.
   *
   * @param change its number
   * @param done whether it was
   */
  record LimitAnswered(long change, boolean done) implements UpdateEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onLimitAnswered(this);
    }
  }
}
