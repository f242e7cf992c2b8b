package io.lockkeeper.server.coordinator.api;

import java.util.List;

/**
 * The holds of one lock that this coordinator granted or took over, and that have ended.
 *
 * @param holds the holds, newest first
 * @param recordedForNanos for how long the coordinator remembers those of this lock: not longer
 *     than since the newest ended that it may have forgotten
 */
public record LockHistory(List<PastHold> holds, long recordedForNanos) {

  /** The largest number of holds of one lock that are remembered. */
  public static final int MAX_HOLDS = 50;

  /** Copies the list. */
  public LockHistory {
    holds = List.copyOf(holds);
  }
}
