package io.lockkeeper.server.security;

import java.time.Duration;
import java.util.function.ToLongFunction;

/**
 * How much one identity may have on one coordinator, and ask for. Where clients prove no identity,
 * each address counts as one.
 *
 * @param leases open leases, streams that are leases included
 * @param acquisitions acquisitions that hold or wait
 * @param entryBytes bytes of all entries in ZooKeeper, with what they say of their owners
 * @param pathBytes bytes of the paths in ZooKeeper of its leases and entries, and of its markers in
 *     the whole cluster
 * @param queuePlaces entries in a queue that is half full, from which on it gets no more there
 * @param freezes prefixes that it keeps frozen in the whole cluster, and forced releases that wait
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
    long pathBytes,
    int queuePlaces,
    int freezes,
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
          8L << 20,
          100,
          100,
          5_000,
          2_000,
          2_000,
          4 * 1024,
          Duration.ofHours(1),
          Duration.ofDays(7),
          Duration.ofHours(1));

  /** What counts where there is no policy: one client may use all of the machine. */
  public static final Limits WITHOUT_POLICY =
      DEFAULTS
          .with(LimitKey.LEASES, 20_000)
          .with(LimitKey.PATH_BYTES, 32L << 20)
          .with(LimitKey.QUEUE_PLACES, Integer.MAX_VALUE)
          .with(LimitKey.FREEZES, 1_000)
          .with(LimitKey.STREAMS, 20_000)
          .with(LimitKey.REQUESTS_PER_SECOND, 1_000_000);

  /** Returns one of them; a duration in seconds. */
  public long get(LimitKey key) {
    return switch (key) {
      case LEASES -> leases;
      case ACQUISITIONS -> acquisitions;
      case ENTRY_BYTES -> entryBytes;
      case PATH_BYTES -> pathBytes;
      case QUEUE_PLACES -> queuePlaces;
      case FREEZES -> freezes;
      case STREAMS -> streams;
      case WATCHES -> watches;
      case REQUESTS_PER_SECOND -> requestsPerSecond;
      case METADATA_BYTES -> metadataBytes;
      case MAX_TTL -> maxTtl.toSeconds();
      case MAX_WAIT -> maxWait.toSeconds();
      case MAX_LOCK_DELAY -> maxLockDelay.toSeconds();
    };
  }

  /** Returns the same with another value of one of them; a duration in seconds. */
  public Limits with(LimitKey changed, long value) {
    return of(key -> key == changed ? value : get(key));
  }

  private static Limits of(ToLongFunction<LimitKey> values) {
    return new Limits(
        (int) values.applyAsLong(LimitKey.LEASES),
        (int) values.applyAsLong(LimitKey.ACQUISITIONS),
        values.applyAsLong(LimitKey.ENTRY_BYTES),
        values.applyAsLong(LimitKey.PATH_BYTES),
        (int) values.applyAsLong(LimitKey.QUEUE_PLACES),
        (int) values.applyAsLong(LimitKey.FREEZES),
        (int) values.applyAsLong(LimitKey.STREAMS),
        (int) values.applyAsLong(LimitKey.WATCHES),
        (int) values.applyAsLong(LimitKey.REQUESTS_PER_SECOND),
        (int) values.applyAsLong(LimitKey.METADATA_BYTES),
        Duration.ofSeconds(values.applyAsLong(LimitKey.MAX_TTL)),
        Duration.ofSeconds(values.applyAsLong(LimitKey.MAX_WAIT)),
        Duration.ofSeconds(values.applyAsLong(LimitKey.MAX_LOCK_DELAY)));
  }
}
