package io.lockkeeper.server.core.queue;

import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.FencingToken;
import java.util.Optional;

/** What a queue asks of whoever an entry of this coordinator belongs to. */
public interface EntryOwner {

  /** Returns the account that the entry counts for; empty: it is not counted. */
  String account();

  /** Returns whether the entry was created together with a guard of its lock delay. */
  boolean hasGuard();

  /** Returns what the entry says of itself. */
  EntryDetails details();

  /** Returns the fencing token, once it is known. */
  Optional<FencingToken> knownToken();

  /** Returns the creation zxid, zero where it is not known. */
  long czxid();

  /** Returns for how much longer the holder needs the lock, if it was asked and said so. */
  Optional<Long> needsNanos(long nowNanos);
}
