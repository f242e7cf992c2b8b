package io.lockkeeper.server.core;

/** What came of a change that no lock session carries. */
public sealed interface ErrandEvent extends StoreEvent {

  /**
   * An amendment was made, or could not be.
   *
   * @param amendment its number
   * @param outcome what came of it
   */
  record AmendmentAnswered(long amendment, Amendment.Outcome outcome) implements ErrandEvent {
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
  record LimitAnswered(long change, boolean done) implements ErrandEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onLimitAnswered(this);
    }
  }
}
