package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.internal.lease.Validity;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.WrongShard;
import java.util.Optional;

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

  /**
   * The shard does not serve the locks any more, or never did, and has nothing of the request: it
   * leaves this session, and is asked anew under another id where it belongs.
   *
   * @param said who serves them; empty: they are on their way
   * @param mayBeKnown whether another server of the shard may have something of it, to be released
   */
  default void askAnew(Acquisition acquisition, Optional<WrongShard> said, boolean mayBeKnown) {
    acquisition.fail(unavailable(acquisition.names())); // It knows of no other shard.
  }

  /** Forgets the acquisition: nothing is to be sent for it any more. */
  void ended(Acquisition acquisition);
}
