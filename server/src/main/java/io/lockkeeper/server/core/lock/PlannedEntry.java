package io.lockkeeper.server.core.lock;

import java.util.Optional;

/**
 * One entry that is to be created.
 *
 * @param lock the lock
 * @param mode what is asked for
 * @param beside the entry at whose sequence number it is placed, while that entry exists; empty for
 *     the end of the queue
 */
public record PlannedEntry(LockName lock, Mode mode, Optional<Beside> beside) {

  /**
   * A hold that goes on in another mode.
   *
   * @param entry the entry of the hold so far, which must still exist
   * @param token its fencing token, which the new entry keeps
   */
  public record Beside(EntryName entry, FencingToken token) {}
}
