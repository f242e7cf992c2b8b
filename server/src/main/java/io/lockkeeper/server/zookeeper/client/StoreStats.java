package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.coordinator.api.StoreObserver;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts what the store does. */
public final class StoreStats {

  /** What is counted. */
  public enum StoreCount {
    /** Transactions that were committed. */
    TRANSACTIONS("Transactions that were committed"),
    /** Writes in them. */
    WRITES("Writes in them"),
    /** Transactions that failed because of one write. */
    TRANSACTIONS_REFUSED("Transactions that failed because of one write"),
    /** Writes whose outcome a lost connection hid. */
    WRITES_IN_DOUBT("Writes whose outcome a lost connection hid"),
    /** Creates in doubt that turned out to have been done. */
    DOUBTS_FOUND_DONE("Creates in doubt that turned out to have been done"),
    /** Rebuilds of the mirror that were completed. */
    REBUILDS("Rebuilds of the mirror that were completed"),
    /** Claim records of sessions that are gone that were removed. */
    CLAIMS_REMOVED("Claim records of sessions that are gone that were removed"),
    /** Lock sessions of other coordinators that became ours. */
    SESSIONS_ADOPTED("Lock sessions of other coordinators that became ours"),
    /** Nodes that they owned. */
    NODES_ADOPTED("Nodes that they owned"),
    /** Orphans that another coordinator took first. */
    ADOPTIONS_LOST("Orphans that another coordinator took first"),
    /** Orphans whose session was gone before we could attach to it. */
    ADOPTIONS_TOO_LATE("Orphans whose session was gone before we could attach to it"),
    /** Lock sessions of ours that another coordinator took. */
    SESSIONS_DEPOSED("Lock sessions of ours that another coordinator took"),
    /** Lock sessions that were left to whoever adopts them. */
    SESSIONS_HANDED_OVER("Lock sessions that were left to whoever adopts them"),
    /** Times that our member node was found gone and made again. */
    MEMBER_NODES_REMADE("Times that our member node was found gone and made again"),
    /** Empty directories of locks that were deleted. */
    DIRECTORIES_REAPED("Empty directories of locks that were deleted"),
    /** Nodes below the locks path that are not ours to understand. */
    NODES_IGNORED("Nodes below the locks path that are not ours to understand"),
    /** Sessions that the client library had given up and that were alive. */
    REATTACHED("Sessions that the client library had given up and that were alive"),
    /** Connections that were left because the server did not answer. */
    SERVERS_LEFT("Connections that were left because the server did not answer");

    private final String description;

    StoreCount(String description) {
      this.description = description;
    }

    /** Returns what is counted, human-readable. */
    public String description() {
      return description;
    }

    /** Returns its name in lower case. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<StoreCount, LongAdder> counts = new EnumMap<>(StoreCount.class);

  private final StoreObserver observer;
  private final MirrorLag lag;

  /** Makes one that tells nobody. */
  public StoreStats() {
    this(StoreObserver.NONE);
  }

  /** Makes one that tells {@code observer} what is measured rather than counted. */
  public StoreStats(StoreObserver observer) {
    this.observer = observer;
    this.lag = new MirrorLag(observer);
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

  /** Counts a transaction that was committed {@code nanos} after it was sent. */
  public void committed(int writes, long nanos) {
    add(StoreCount.TRANSACTIONS, 1);
    add(StoreCount.WRITES, writes);
    observer.onCommitted(writes, nanos);
  }

  /** Counts a rebuild of the mirror that has taken {@code nanos}. */
  public void rebuilt(long nanos) {
    add(StoreCount.REBUILDS, 1);
    observer.onRebuilt(nanos);
  }

  /** Returns what measures the mirror's lag. */
  public MirrorLag lag() {
    return lag;
  }

  /** Returns all counts by their {@link StoreCount#key}. */
  public Map<String, Long> snapshot() {
    Map<String, Long> snapshot = new TreeMap<>();
    counts.forEach((count, adder) -> snapshot.put(count.key(), adder.sum()));
    return Collections.unmodifiableMap(snapshot);
  }
}
