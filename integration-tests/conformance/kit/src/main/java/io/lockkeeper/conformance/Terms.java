package io.lockkeeper.conformance;

import com.google.protobuf.Duration;

/** What a server grants a lease, in milliseconds. */
record Terms(long ttlMillis, long validForMillis, long intervalMillis) {

  /** So long that a busy machine loses nothing. */
  static final Terms CALM = new Terms(60_000, 30_000, 3_000);

  /**
   * As a server of our own grants them: the interval is a quarter of what the lease is good for.
   */
  static final Terms QUARTER = new Terms(60_000, 16_000, 4_000);

  /** Runs out soon, while the TTL is long. */
  static final Terms SHORT = new Terms(60_000, 5_000, 1_000);

  static Duration toDuration(long millis) {
    return Duration.newBuilder()
        .setSeconds(millis / 1_000)
        .setNanos((int) (millis % 1_000) * 1_000_000)
        .build();
  }

  static long toMillis(Duration duration) {
    return duration.getSeconds() * 1_000 + duration.getNanos() / 1_000_000;
  }

  Duration ttl() {
    return toDuration(ttlMillis);
  }

  Duration validFor() {
    return toDuration(validForMillis);
  }

  Duration interval() {
    return toDuration(intervalMillis);
  }
}
