package io.lockkeeper.server.rpc.forward;

import java.time.Duration;

/**
 * How patient requests are that other coordinators serve, and what they may cost.
 *
 * @param patience how long a request waits in all for somebody who serves its lease
 * @param pause how long it waits before it asks again; up to as much again is added at random
 * @param maxWaiting how many requests may wait so at a time
 * @param quiet how long a peer may leave a request without any sign of life before it is asked for
 *     one
 * @param silence how long it may take to give that sign, or to be reached at all
 */
public record PeerLimits(
    Duration patience, Duration pause, int maxWaiting, Duration quiet, Duration silence) {

  /** The limits of production. */
  public static final PeerLimits DEFAULTS =
      new PeerLimits(
          Duration.ofSeconds(8),
          Duration.ofMillis(100),
          4_096,
          Duration.ofSeconds(1),
          Duration.ofSeconds(2));

  /** Returns how long a peer may not answer at all before it is suspected. */
  Duration untilSuspected() {
    return quiet.plus(silence);
  }
}
