package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Decides who holds. First come, first served: an entry holds if it is compatible with everything
 * ahead of it, and nobody is admitted past an entry that is not.
 */
final class Admission {

  private Admission() {}

  /**
   * Returns the longest run of entries at the head of {@code queue} that may hold together. Entries
   * whose holder has released, and which only wait for their deletion, are passed over. Who holds
   * goes on holding when the limit shrinks.
   */
  static List<Entry> holders(Iterable<Entry> queue, OptionalInt configuredLimit) {
    List<Entry> holders = new ArrayList<>(1);
    Occupancy occupancy = Occupancy.free(configuredLimit);
    for (Entry entry : queue) {
      if (entry.isReleased()) {
        continue;
      }
      if (!entry.holds() && !occupancy.admits(entry.name())) {
        return holders;
      }
      occupancy = occupancy.plus(entry.name());
      holders.add(entry);
    }
    return holders;
  }
}
