package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.lock.LockName;
import java.util.Set;

/**
 * Which locks a watcher wants to see.
 *
 * @param names these, or empty for those of the prefix
 * @param prefix all whose names begin with this, empty for all
 */
public record WatchFilter(Set<LockName> names, String prefix) {

  /** Copies the names. */
  public WatchFilter {
    names = Set.copyOf(names);
  }

  /** Returns whether the watcher wants to see {@code lock}. */
  public boolean matches(LockName lock) {
    return names.isEmpty() ? lock.value().startsWith(prefix) : names.contains(lock);
  }
}
