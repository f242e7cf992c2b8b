package io.lockkeeper.server.coordinator.api;

/** Why a coordinator cannot go on, so that its process must end. */
public enum FatalFailure {

  /**
   * The event loop makes no progress, while ZooKeeper's threads keep the sessions and so the locks.
   */
  HANGING,

  /**
   * Something threw in the middle of a change: state of the core or of the store is half changed,
   * and part of what was decided has not been carried out. Nothing runs on it any more.
   */
  STATE_IN_DOUBT
}
