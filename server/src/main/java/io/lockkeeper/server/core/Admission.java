package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;

/**
 * Decides who holds. First come, first served: an entry holds if it is compatible with everything
 * ahead of it, and nobody is admitted past an entry that is not.
 */
final class Admission {

  private Admission() {}

  /**
   * Returns the longest run of entries at the head of {@code queue} that may hold together. Entries
   * whose holder has released, and which only wait for their deletion, are passed over.
   */
  static List<Entry> holders(Iterable<Entry> queue) {
    List<Entry> holders = new ArrayList<>(1);
    Occupancy occupancy = Occupancy.FREE;
    for (Entry entry : queue) {
      if (entry.isReleased()) {
        continue;
      }
      if (!occupancy.admits(entry.mode())) {
        return holders;
      }
      occupancy = occupancy.plus(entry.mode());
      holders.add(entry);
    }
    return holders;
  }
}
