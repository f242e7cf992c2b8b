package io.lockkeeper.server.security;

/**
 * A limit of one identity, as a policy's file names it: its key there, what it limits, its range.
 */
public enum LimitKey {
  /** See {@link Limits#leases}. */
  LEASES(
      "leases",
      "Open leases, streams that are leases included. Renewals count among the requests: with a TTL of 15 s, 5000 leases"
          + " make some 1300 a second, so raise both together.",
      1,
      LimitKey.MAX_COUNT),
  /** See {@link Limits#acquisitions}. */
  ACQUISITIONS("acquisitions", "Acquisitions that hold or wait.", 1, LimitKey.MAX_COUNT),
  /** See {@link Limits#entryBytes}. */
  ENTRY_BYTES("entry-bytes", "Bytes of all its entries in ZooKeeper.", 1, LimitKey.MAX_BYTES),
  /** See {@link Limits#pathBytes}. */
  PATH_BYTES(
      "path-bytes",
      "Bytes of the paths in ZooKeeper of its leases and entries here, and of the limits that it configured and the lock"
          + " delays of its holders in the whole cluster, with 256 more for each of these. See below.",
      1,
      LimitKey.MAX_BYTES),
  /** See {@link Limits#queuePlaces}. */
  QUEUE_PLACES(
      "queue-places",
      "Entries in the queue of one lock here, once that queue is half full.",
      1,
      LimitKey.MAX_COUNT),
  /** See {@link Limits#freezes}. */
  FREEZES(
      "freezes",
      "Prefixes that it keeps frozen in the whole cluster; as many forced releases with a grace may wait here.",
      1,
      1_000),
  /** See {@link Limits#streams}. */
  STREAMS(
      "streams",
      "Open streams. One whose connection has broken counts for up to 15 s more, so leave room for clients that come"
          + " again.",
      1,
      LimitKey.MAX_COUNT),
  /** See {@link Limits#watches}. */
  WATCHES("watches", "Watches.", 1, LimitKey.MAX_COUNT),
  /** See {@link Limits#requestsPerSecond}. */
  REQUESTS_PER_SECOND(
      "requests-per-second",
      "Requests per second. A burst of one second's worth is allowed; see [below](#what-a-request-counts).",
      1,
      LimitKey.MAX_COUNT),
  /** See {@link Limits#metadataBytes}. */
  METADATA_BYTES("metadata-bytes", "Bytes of metadata of one request.", 0, 4 * 1024),
  /** See {@link Limits#maxTtl}. */
  MAX_TTL("max-ttl", "The longest TTL of a lease.", 2, 3_600),
  /** See {@link Limits#maxWait}. */
  MAX_WAIT(
      "max-wait",
      "The longest `wait_timeout`. Where it is below the default, each request must have one.",
      0,
      7 * 86_400),
  /** See {@link Limits#maxLockDelay}. */
  MAX_LOCK_DELAY(
      "max-lock-delay",
      "The longest `lock_delay`: how long a lock stays closed after a holder was lost.",
      0,
      3_600);

  private static final int MAX_COUNT = 1_000_000_000;
  private static final long MAX_BYTES = 1L << 40;

  private final String key;
  private final String description;
  private final long min;
  private final long max;

  LimitKey(String key, String description, long min, long max) {
    this.key = key;
    this.description = description;
    this.min = min;
    this.max = max;
  }

  /** Returns its key in the file. */
  public String key() {
    return key;
  }

  /** Returns what it limits, as a sentence. */
  public String description() {
    return description;
  }

  /** Returns the lowest value that a policy may give; of a duration, in seconds. */
  public long min() {
    return min;
  }

  /** Returns the highest value that a policy may give; of a duration, in seconds. */
  public long max() {
    return max;
  }

  boolean isDuration() {
    return this == MAX_TTL || this == MAX_WAIT || this == MAX_LOCK_DELAY;
  }

  /** Returns a value as a policy's file has it. */
  public String format(long value) {
    if (!isDuration()) {
      return value == Integer.MAX_VALUE ? "no limit" : String.valueOf(value);
    }
    if (value == 0 || value % 60 != 0) {
      return value + "s";
    }
    if (value % 3_600 != 0) {
      return value / 60 + "m";
    }
    return value % 86_400 == 0 ? value / 86_400 + "d" : value / 3_600 + "h";
  }
}
