package io.lockkeeper.server.core.queue;

import io.lockkeeper.server.core.lock.Occupancy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Decides who holds. First come, first served: an entry holds if it is compatible with everything
 * ahead of it, and nobody is admitted past an entry that is not.
 */
public final class Admission {

  private Admission() {}

  /**
   * Returns the longest run of entries at the head of {@code queue} that may hold together. Who
   * holds goes on holding when the limit shrinks.
   *
   * <p>Entries whose holder has released, and which only wait for their deletion, are passed over;
   * but not by an entry of ours with a lock delay. If it is lost, others must be able to tell from
   * the order of commits alone whether it was held.
   */
  static List<Entry> holders(Iterable<Entry> queue, OptionalInt configuredLimit) {
    return holders(queue, configuredLimit, true);
  }

  /** Returns who holds when all deletions of released entries that are under way are committed. */
  public static List<Entry> holdersToBe(Iterable<Entry> queue, OptionalInt configuredLimit) {
    return holders(queue, configuredLimit, false);
  }

  /** Returns whether an entry may hold together with all of those ahead. */
  public static boolean admits(Entry entry, Iterable<Entry> ahead, OptionalInt configuredLimit) {
    Occupancy occupancy = Occupancy.free(configuredLimit);
    for (Entry other : ahead) {
      occupancy = occupancy.plus(other.name());
    }
    return occupancy.admits(entry.name());
  }

  private static List<Entry> holders(
      Iterable<Entry> queue, OptionalInt configuredLimit, boolean guardsWait) {
    List<Entry> holders = new ArrayList<>(1);
    Occupancy occupancy = Occupancy.free(configuredLimit);
    boolean ahead = false;
    for (Entry entry : queue) {
      if (entry.isReleased()) {
        ahead = true;
        continue;
      }
      boolean waitsForCommit = guardsWait && ahead && entry.hasOwnGuard();
      boolean admitted = occupancy.admits(entry.name()) && !waitsForCommit;
      if (!entry.holds() && !admitted) {
        return holders;
      }
      occupancy = occupancy.plus(entry.name());
      holders.add(entry);
    }
    return holders;
  }
}
