package io.lockkeeper.server.zookeeper.client;

import java.util.Optional;

/**
 * The highest zxid that this coordinator knows to be committed, and that an earlier process
 * recorded. Fencing tokens are made of zxids, so they would repeat on an ensemble that goes back.
 *
 * <p>ZooKeeper commits a write with a zxid above all that were committed when it was sent. Where it
 * does not, its data was lost, or it was restored from an older copy, or it is another ensemble.
 */
public final class HighestZxid {

  private volatile long value;

  /** Starts with the value that was recorded; zero if there is none. */
  public HighestZxid(long recorded) {
    value = recorded;
  }

  /** Returns the value. May be called on any thread. */
  public long get() {
    return value;
  }

  /**
   * Takes note of a write. Called on the store's thread.
   *
   * @param before what {@link #get} returned when the write was sent
   * @param zxid the write's zxid
   * @return what is wrong, human-readable, if the ensemble went back
   */
  Optional<String> committed(long before, long zxid) {
    if (zxid <= before) {
      return Optional.of(
          "ZooKeeper's data is older than what this coordinator has recorded: a write got the zxid 0x"
              + Long.toHexString(zxid)
              + " after 0x"
              + Long.toHexString(before)
              + ", so locks were lost and fencing tokens would repeat. Restore ZooKeeper's newest data, or"
              + " start once with --allow-token-reset when no resource compares tokens with earlier ones");
    }
    if (zxid > value) {
      value = zxid;
    }
    return Optional.empty();
  }
}
