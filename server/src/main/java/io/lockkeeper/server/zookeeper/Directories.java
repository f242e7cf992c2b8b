package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.LockName;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * The locks whose directory is believed to exist. A wrong belief costs one more round trip and
 * nothing else.
 */
final class Directories {

  private final Set<LockName> known = new HashSet<>();

  boolean contains(LockName lock) {
    return known.contains(lock);
  }

  void add(LockName lock) {
    known.add(lock);
  }

  void remove(LockName lock) {
    known.remove(lock);
  }

  void replaceBy(Collection<LockName> locks) {
    known.clear();
    known.addAll(locks);
  }
}
