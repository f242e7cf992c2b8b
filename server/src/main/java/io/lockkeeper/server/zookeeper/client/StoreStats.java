package io.lockkeeper.server.zookeeper.client;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts what the store does. */
public final class StoreStats {

  /** What is counted. */
  public enum StoreCount {
    /** Transactions that were committed. */
    TRANSACTIONS,
    /** Writes in them. */
    WRITES,
    /** Transactions that failed because of one write. */
    TRANSACTIONS_REFUSED,
    /** Writes whose outcome a lost connection hid. */
    WRITES_IN_DOUBT,
    /** Creates in doubt that turned out to have been done. */
    DOUBTS_FOUND_DONE,
    /** Rebuilds of the mirror that were completed. */
    REBUILDS,
    /** Claim records of sessions that are gone that were removed. */
    CLAIMS_REMOVED,
    /** Lock sessions of other coordinators that became ours. */
    SESSIONS_ADOPTED,
    /** Nodes that they owned. */
    NODES_ADOPTED,
    /** Orphans that another coordinator took first. */
    ADOPTIONS_LOST,
    /** Orphans whose session was gone before we could attach to it. */
    ADOPTIONS_TOO_LATE,
    /** Lock sessions of ours that another coordinator took. */
    SESSIONS_DEPOSED,
    /** Lock sessions that were left to whoever adopts them. */
    SESSIONS_HANDED_OVER,
    /** Times that our member node was found gone and made again. */
    MEMBER_NODES_REMADE,
    /** Empty directories of locks that were deleted. */
    DIRECTORIES_REAPED,
    /** Nodes below the locks path that are not ours to understand. */
    NODES_IGNORED,
    /** Sessions that the client library had given up and that were alive. */
    REATTACHED,
    /** Connections that were left because the server did not answer. */
    SERVERS_LEFT
  }

  private final Map<StoreCount, LongAdder> counts = new EnumMap<>(StoreCount.class);

  public StoreStats() {
    for (StoreCount count : StoreCount.values()) {
      counts.put(count, new LongAdder());
    }
  }

  /** Counts so many more. */
  public void add(StoreCount count, long more) {
    LongAdder adder = counts.get(count);
    if (adder != null) {
      adder.add(more);
    }
  }

  /** Returns all counts by their names in lower case. */
  public Map<String, Long> snapshot() {
    Map<String, Long> snapshot = new TreeMap<>();
    counts.forEach(
        (count, adder) ->
            snapshot.put(count.name().toLowerCase(java.util.Locale.ROOT), adder.sum()));
    return Collections.unmodifiableMap(snapshot);
  }
}
