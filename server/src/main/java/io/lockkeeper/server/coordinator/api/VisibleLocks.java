package io.lockkeeper.server.coordinator.api;

import java.util.Optional;

/** The locks that a caller is allowed to see, in the order of their names. */
@FunctionalInterface
public interface VisibleLocks {

  /**
   * Returns the first text, from {@code from} on, with which the name of a visible lock can begin.
   * That is {@code from} itself if a lock of that name is visible. Empty if no such text follows.
   */
  Optional<String> next(String from);
}
