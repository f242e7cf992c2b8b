package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.internal.lease.Validity;
import io.lockkeeper.v1.SessionRequest;

/** What an acquisition needs of the session that it is part of. */
public interface SessionLink {
  /**
   * Sends, if a stream is open; else returns false, and {@link Acquisition#onOpened} comes when one
   * is.
   */
  boolean send(SessionRequest request);

  /** Returns what a request for {@code locks} fails with that no server has answered in time. */
  LockkeeperException unavailable(String locks);

  /** Returns until when the lease may be relied upon. */
  Validity validity();

  /** Returns the holds under the lease that are limited in time. */
  HoldState.LimitedHolds limitedHolds();

  /** Forgets the acquisition: nothing is to be sent for it any more. */
  void ended(Acquisition acquisition);
}
