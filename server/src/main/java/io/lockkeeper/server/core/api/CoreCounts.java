package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;

/**
 * The numbers that describe the core's state.
 *
 * @param mirrorCurrent whether the mirror is whole
 * @param leases how many leases there are, ending ones included
 * @param acquisitions how many acquisitions there are, ending ones included
 * @param held how many of them are held
 * @param deletesOwed how many have ended and are not certainly gone
 * @param locks how many locks are in use
 * @param entries how many entries the mirror has
 * @param sessions the lock sessions
 */
public record CoreCounts(
    boolean mirrorCurrent,
    int leases,
    int acquisitions,
    int held,
    int deletesOwed,
    int locks,
    int entries,
    List<SessionCounts> sessions) {

  /**
   * One lock session.
   *
   * @param key the session
   * @param provenAlive whether its bound has not run out
   * @param sure whether grants may be made on it
   * @param pathBytes the bytes of the paths that it owns
   * @param leases how many leases live on it
   */
  public record SessionCounts(
      SessionKey key, boolean provenAlive, boolean sure, long pathBytes, int leases) {}
}
