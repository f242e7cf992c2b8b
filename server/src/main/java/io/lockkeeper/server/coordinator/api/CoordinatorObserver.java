package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Occurrence;
import java.util.UUID;

/** Counts and traces what happens. Called on the event loop: must not block or throw. */
public interface CoordinatorObserver {

  /** Observes nothing. */
  CoordinatorObserver NONE =
      new CoordinatorObserver() {
        @Override
        public void onOccurrence(Occurrence occurrence) {}

        @Override
        public void onStalled(long nanos) {}
      };

  /**
   * Locks are asked for. Called on the thread of the request; nothing may follow, if the request is
   * refused or was made before.
   *
   * @param id the acquisition that may become of it
   * @return what is asked for in its place; the same locks
   */
  default AcquireCommand onRequested(UUID id, AcquireCommand command) {
    return command;
  }

  /** Something happened to an acquisition, whether or not its client could be told. */
  void onOccurrence(Occurrence occurrence);

  /** The process did nothing for a while, or the machine was suspended. */
  void onStalled(long nanos);

  /** Returns an observer that tells this one and then another. */
  default CoordinatorObserver and(CoordinatorObserver other) {
    CoordinatorObserver first = this;
    return new CoordinatorObserver() {
      @Override
      public AcquireCommand onRequested(UUID id, AcquireCommand command) {
        return other.onRequested(id, first.onRequested(id, command));
      }

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
