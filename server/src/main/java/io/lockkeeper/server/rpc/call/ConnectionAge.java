package io.lockkeeper.server.rpc.call;

import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Knows when streams should leave an old connection, so that clients spread over all servers, and a
 * balancer's table is no reason for a stream to break.
 *
 * <pre>
 *   0.9 to 1.1 of the age     sessions are sent away: most resume on another connection
 *   1.125 to 1.375            HTTP/2 takes no new streams on this one (gRPC draws the moment)
 *   1.5                       sessions that have resumed here once more, and all other streams
 *                             that can be resumed, are sent away
 * </pre>
 *
 * <p>Nothing is cut off: an Acquire stream that is a lease by itself keeps its old connection for
 * as long as it lasts.
 *
 * <p>Streams of a token that expires leave in the same way, when it does: whoever has a fresh one
 * comes again and has lost nothing.
 */
public final class ConnectionAge extends ServerTransportFilter {

  private static final Attributes.Key<AgedConnection> CONNECTION =
      Attributes.Key.create("connection");
  private static final double EARLIEST = 0.9;
  private static final double SPREAD = 0.2;
  private static final double LAST = 1.5;
  // gRPC adds a tenth more or less.
  private static final double TRANSPORT = 1.25;

  private final Optional<Duration> max;
  private final RandomGenerator random;

  /**
   * When a connection was opened, and when its streams should leave, by {@link System#nanoTime}.
   *
   * @param first when sessions should
   * @param last when all should
   */
  public record AgedConnection(long first, long last) {

    /** Returns the same moments, none of them later than {@code at}. */
    AgedConnection notAfter(long at) {
      return new AgedConnection(first - at < 0 ? first : at, last - at < 0 ? last : at);
    }

    /** Returns how long it is until a stream should leave. */
    long untilLeaving(boolean session, long nowNanos) {
      long next = session && first - nowNanos > 0 ? first : last;
      return Math.max(0, next - nowNanos);
    }
  }

  /**
   * Prepares.
   *
   * @param max the age; empty: connections may become as old as they like
   * @param random spreads the moments
   */
  public ConnectionAge(Optional<Duration> max, RandomGenerator random) {
    this.max = max;
    this.random = random;
  }

  /** Returns the age at which the transport itself should let go of a connection. */
  public Optional<Duration> ofTransport() {
    return max.map(age -> scaled(age, TRANSPORT));
  }

  private static Duration scaled(Duration age, double factor) {
    return Duration.ofNanos(Math.round(age.toNanos() * factor));
  }

  /** Returns the moments for a connection that opens now; empty if it may stay. */
  Optional<AgedConnection> opened(long nowNanos) {
    return max.map(
        age ->
            new AgedConnection(
                nowNanos + scaled(age, EARLIEST + SPREAD * random.nextDouble()).toNanos(),
                nowNanos + scaled(age, LAST).toNanos()));
  }

  @Override
  public Attributes transportReady(Attributes attributes) {
    return opened(System.nanoTime())
        .map(connection -> attributes.toBuilder().set(CONNECTION, connection).build())
        .orElse(attributes);
  }

  /** Returns the moments of the connection that a call came by. */
  public static Optional<AgedConnection> of(Attributes attributes) {
    return Optional.ofNullable(attributes.get(CONNECTION));
  }
}
