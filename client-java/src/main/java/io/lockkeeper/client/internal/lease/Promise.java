package io.lockkeeper.client.internal.lease;

import com.google.protobuf.Duration;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import java.util.concurrent.TimeUnit;

/**
 * What a server promises when it opens or renews a lease. Both times count from the sending of the
 * request.
 *
 * @param validForNanos how long the lease is valid
 * @param intervalNanos when to send the next keep-alive
 */
public record Promise(long validForNanos, long intervalNanos) {

  private static final long SHORTEST_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Returns what the opening of a lease promises. */
  public static Promise of(SessionOpened opened) {
    return of(opened.getValidFor(), opened.getKeepAliveInterval());
  }

  /** Returns what an acknowledged keep-alive promises. */
  public static Promise of(SessionKeptAlive kept) {
    return of(kept.getValidFor(), kept.getKeepAliveInterval());
  }

  /** A server that names no interval leaves it at zero. */
  private static Promise of(Duration validFor, Duration interval) {
    long validForNanos = Protos.toNanos(validFor);
    long intervalNanos = Protos.toNanos(interval);
    long usualNanos = Math.max(SHORTEST_INTERVAL_NANOS, validForNanos / 4);
    return new Promise(validForNanos, intervalNanos > 0 ? intervalNanos : usualNanos);
  }
}
