package io.lockkeeper.server.core.api;

/**
 * The largest numbers that all queues in ZooKeeper have to offer, entries of other coordinators
 * included. Times are counted from when this coordinator saw the entry, or saw it hold.
 *
 * @param longestQueue how many entries the longest queue has, holders included
 * @param oldestHoldNanos for how long the longest hold has lasted, zero if there is none
 * @param oldestWaitNanos for how long the longest wait has lasted, zero if there is none
 */
public record QueueExtremes(int longestQueue, long oldestHoldNanos, long oldestWaitNanos) {

  /** Those of no queues. */
  public static final QueueExtremes NONE = new QueueExtremes(0, 0, 0);
}
