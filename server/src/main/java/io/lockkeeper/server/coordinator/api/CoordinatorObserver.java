package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.Notice;

/** Counts what happens. Called on the event loop: must not block or throw. */
public interface CoordinatorObserver {

  /** Observes nothing. */
  CoordinatorObserver NONE =
      new CoordinatorObserver() {
        @Override
        public void onNotice(Notice notice) {}

        @Override
        public void onStalled(long nanos) {}
      };

  /** Something happened to an acquisition, whether or not its client could be told. */
  void onNotice(Notice notice);

  /** The process did nothing for a while, or the machine was suspended. */
  void onStalled(long nanos);
}
