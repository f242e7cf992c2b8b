package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.EntryName;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Finds entries whose order the sequence number does not tell: one was placed beside the other, or
 * the counter sticks at its largest value.
 */
final class Ties {

  private Ties() {}

  /** Returns the names of the entries that share their sequence number with another. */
  static Set<String> in(Collection<EntryName> entries) {
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
