package io.lockkeeper.client.internal.lease;

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
    long validFor = Protos.toNanos(opened.getValidFor());
    return new Promise(
        validFor,
        opened.hasKeepAliveInterval()
            ? Protos.toNanos(opened.getKeepAliveInterval())
            : intervalFor(validFor));
  }

  /** Returns what an acknowledged keep-alive promises. */
  public static Promise of(SessionKeptAlive kept) {
    long validFor = Protos.toNanos(kept.getValidFor());
    return new Promise(
        validFor,
        kept.hasKeepAliveInterval()
            ? Protos.toNanos(kept.getKeepAliveInterval())
            : intervalFor(validFor));
  }

  /** Returns the interval for a server that names none. */
  private static long intervalFor(long validForNanos) {
    return Math.max(SHORTEST_INTERVAL_NANOS, validForNanos / 4);
  }
}
