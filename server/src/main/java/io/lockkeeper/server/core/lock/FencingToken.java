package io.lockkeeper.server.core.lock;

/**
 * A number that rises with every grant of a lock: 20 bits of ZooKeeper's epoch, 32 of its counter,
 * 11 of the index of the entry among the entries that one transaction created in one lock. Never
 * zero, never negative.
 *
 * @param value the number
 */
public record FencingToken(long value) {

  /** The largest epoch that fits. */
  public static final long MAX_EPOCH = (1L << 20) - 1;

  /** The largest index that fits. */
  public static final int MAX_INDEX = (1 << 11) - 1;

  private static final int INDEX_BITS = 11;

  /**
   * Returns the token of an entry.
   *
   * @param czxid the entry's creation zxid
   * @param index its index among the entries that the same transaction created in the same lock
   * @throws IllegalArgumentException if the epoch or the index does not fit
   */
  public static FencingToken of(long czxid, int index) {
    if (czxid <= 0 || czxid >>> 32 > MAX_EPOCH) {
      throw new IllegalArgumentException(
          "epoch does not fit a token: zxid 0x" + Long.toHexString(czxid));
    }
    if (index < 0 || index > MAX_INDEX) {
      throw new IllegalArgumentException("index must be 0 to " + MAX_INDEX + ": " + index);
    }
    return new FencingToken((czxid << INDEX_BITS) | index);
  }

  @Override
  public String toString() {
    return Long.toString(value);
  }
}
