package io.lockkeeper.spring.integration;

import org.springframework.integration.leader.Context;

/** What a candidate and its events know of a leadership: {@link LockkeeperLeaderInitiator}. */
public interface LeaderContext extends Context {

  /** Returns whether it leads, by the client's own deadline: true for as long as it may act. */
  @Override
  boolean isLeader();

  /**
   * Returns the fencing token, for whatever the leader changes: higher than any leader's before.
   */
  long fencingToken();
}
