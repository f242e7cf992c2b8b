package io.lockkeeper.server.security;

import java.time.Duration;

/**
 * How much one identity may have on one coordinator, and ask for. Where clients prove no identity,
 * each address counts as one.
 *
 * @param leases open leases, streams that are leases included
 * @param acquisitions acquisitions that hold or wait
 * @param entryBytes bytes of all entries in ZooKeeper, with what they say of their owners
 * @param streams open streams: sessions, acquisitions, watches, keep-alives
 * @param watches watches, in session streams or as streams of their own
 * @param requestsPerSecond requests a second, of which a second's worth may come at once; a batch
 *     counts each, and one that makes much work counts as many
 * @param metadataBytes bytes of metadata of one request
 * @param maxTtl the longest TTL of a lease
 * @param maxWait the longest wait_timeout; where it is less than the default, a request must have
 *     one
 * @param maxLockDelay the longest lock_delay
 */
public record Limits(
    int leases,
    int acquisitions,
    long entryBytes,
    int streams,
    int watches,
    int requestsPerSecond,
    int metadataBytes,
    Duration maxTtl,
    Duration maxWait,
    Duration maxLockDelay) {

  /** What counts where a policy says nothing. Of sizes and times: the most that it may say. */
  public static final Limits DEFAULTS =
      new Limits(
          5_000,
          50_000,
          32L << 20,
          20_000,
          2_000,
          2_000,
          4 * 1024,
          Duration.ofHours(1),
          Duration.ofDays(7),
          Duration.ofHours(1));

  /** What counts where there is no policy: one client may use all of the machine. */
  public static final Limits WITHOUT_POLICY =
      new Limits(
          20_000,
          DEFAULTS.acquisitions,
          DEFAULTS.entryBytes,
          DEFAULTS.streams,
          DEFAULTS.watches,
          1_000_000,
          DEFAULTS.metadataBytes,
          DEFAULTS.maxTtl,
          DEFAULTS.maxWait,
          DEFAULTS.maxLockDelay);
}
