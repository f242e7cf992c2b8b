package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.EntryUpdate;

/** What came of a change that no lock session carries. */
public sealed interface UpdateEvent extends StoreEvent {

  /**
   * An update was made, or could not be.
   *
   * @param number its number
   * @param outcome what came of it
   */
  record EntryUpdateAnswered(long number, EntryUpdate.Outcome outcome) implements UpdateEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onEntryUpdateAnswered(this);
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
