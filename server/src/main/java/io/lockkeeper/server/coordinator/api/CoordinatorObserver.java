package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.Occurrence;

/** Counts what happens. Called on the event loop: must not block or throw. */
public interface CoordinatorObserver {

  /** Observes nothing. */
  CoordinatorObserver NONE =
      new CoordinatorObserver() {
        @Override
        public void onOccurrence(Occurrence occurrence) {}

        @Override
        public void onStalled(long nanos) {}
      };

  /** Something happened to an acquisition, whether or not its client could be told. */
  void onOccurrence(Occurrence occurrence);

  /** The process did nothing for a while, or the machine was suspended. */
  void onStalled(long nanos);

  /** Returns an observer that tells this one and then another. */
  default CoordinatorObserver and(CoordinatorObserver other) {
    CoordinatorObserver first = this;
    return new CoordinatorObserver() {
      @Override
      public void onOccurrence(Occurrence occurrence) {
        first.onOccurrence(occurrence);
        other.onOccurrence(occurrence);
      }

      @Override
      public void onStalled(long nanos) {
        first.onStalled(nanos);
        other.onStalled(nanos);
      }
    };
  }
}
