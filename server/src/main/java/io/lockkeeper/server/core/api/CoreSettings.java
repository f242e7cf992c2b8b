package io.lockkeeper.server.core.api;

import java.time.Duration;

/**
 * The limits that the core keeps.
 *
 * @param tick ZooKeeper's tick: how late its leader hears of a session goes by it, see {@code
 *     LeaderClock}
 * @param maxWaiters how many entries a lock's queue may have
 * @param maxLeases how many leases may be open, streams included
 * @param maxSessionPathBytes how many bytes of paths one lock session may own: closing a session
 *     that owns more than 2 MiB kills a ZooKeeper ensemble (ZOOKEEPER-4306)
 * @param maxSessions how many lock sessions may be open
 * @param linger how long a waiting acquisition under a lease keeps its place after its stream has
 *     gone
 * @param handOffAhead whether the next waiter may be granted before the holder's deletion has
 *     committed
 * @param maxLeaseEntryBytes how many bytes the entries of one lease may take in ZooKeeper
 * @param maxEntryBytes how many bytes the entries of all leases may take: what a request says of
 *     itself is kept in the entry of each of its locks, so that few bytes sent can be many there
 * @param maxMirrorEntries how many entries and markers all queues together may have, whoever's they
 *     are, before more is refused: each coordinator keeps all of them in memory
 * @param maxMirrorNameBytes how many bytes the znode names of the locks in use may take: they are
 *     read back with one reply, which ZooKeeper has to send and each coordinator has to take
 * @param sendAwayAfter for how long a lock session may be without contact before the streams of its
 *     leases are sent to other coordinators, who may have adopted it
 */
public record CoreSettings(
    Duration tick,
    int maxWaiters,
    int maxLeases,
    long maxSessionPathBytes,
    int maxSessions,
    long maxLeaseEntryBytes,
    long maxEntryBytes,
    int maxMirrorEntries,
    long maxMirrorNameBytes,
    Duration linger,
    boolean handOffAhead,
    Duration sendAwayAfter) {

  /**
   * Returns the defaults: 2 s, 10,000, 100,000, 512 KiB, 64, 8 MiB, 64 MiB, 1,000,000, 32 MiB, 5 s,
   * hand-off ahead, 6 s.
   */
  public static CoreSettings defaults() {
    return new CoreSettings(
        Duration.ofSeconds(2),
        10_000,
        100_000,
        512 << 10,
        64,
        8L << 20,
        64L << 20,
        1_000_000,
        32L << 20,
        Duration.ofSeconds(5),
        true,
        Duration.ofSeconds(6));
  }
}
