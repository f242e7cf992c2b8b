package io.lockkeeper.server.zookeeper.mirror;

import io.lockkeeper.server.core.lock.EntryName;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Finds entries whose order the sequence number does not tell: one was placed beside the other, or
 * the counter sticks at its largest value.
 */
public final class TieBreaks {

  private TieBreaks() {}

  /** Returns the names of the entries that share their sequence number with another. */
  public static Set<String> in(Collection<EntryName> entries) {
    Map<Integer, EntryName> first = new HashMap<>();
    Set<String> tied = new HashSet<>();
    for (EntryName entry : entries) {
      EntryName other = first.putIfAbsent(entry.sequence(), entry);
      if (other != null) {
        tied.add(other.text());
        tied.add(entry.text());
      }
    }
    return tied;
  }
}
