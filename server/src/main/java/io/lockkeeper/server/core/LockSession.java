package io.lockkeeper.server.core;

import java.util.HashSet;
import java.util.Set;

/**
 * One lock session of the pool: a ZooKeeper session that owns leases and their entries.
 *
 * <pre>
 *   OPENING --Opened--> OPEN --no lease left, or bound lost--> CLOSING --Ended--> (forgotten)
 * </pre>
 */
final class LockSession {

  /** Where a session stands. */
  enum State {
    /** Never been open. */
    OPENING,
    /** It has its claim record. */
    OPEN,
    /** It is no longer wanted. */
    CLOSING
  }

  private final SessionKey key;
  private final Set<LeaseId> leases = new HashSet<>();
  private State state = State.OPENING;
  private boolean suspended;
  private boolean unsure;
  private long unsureSinceNanos;
  private long timeoutNanos;
  private long provenAtNanos;
  private long pathBytes;

  LockSession(SessionKey key) {
    this.key = key;
  }

  SessionKey key() {
    return key;
  }

  State state() {
    return state;
  }

  void opened(long timeout, long provenAt) {
    state = State.OPEN;
    unsure = false;
    suspended = false;
    timeoutNanos = timeout;
    provenAtNanos = provenAt;
  }

  void closing() {
    state = State.CLOSING;
  }

  /**
   * Takes a proof; one that was sent before the doubt arose renews the bound and does not end the
   * doubt.
   */
  void proved(long sentAtNanos) {
    if (sentAtNanos - provenAtNanos > 0) {
      provenAtNanos = sentAtNanos;
    }
    if (unsure && sentAtNanos - unsureSinceNanos >= 0) {
      unsure = false;
    }
  }

  /** Holds grants back until a proof that is sent from now on. */
  void doubt(long nowNanos) {
    unsure = true;
    unsureSinceNanos = nowNanos;
  }

  /** Returns whether grants may be made on it. */
  boolean isSure() {
    return state == State.OPEN && !unsure && !suspended;
  }

  boolean isUnsure() {
    return unsure;
  }

  /** Returns whether holders have been told that they are in jeopardy. */
  boolean isSuspended() {
    return suspended;
  }

  void suspended(boolean value) {
    suspended = value;
  }

  long timeoutNanos() {
    return timeoutNanos;
  }

  long provenAtNanos() {
    return provenAtNanos;
  }

  /**
   * Returns until when the session is known to live: the last proof, plus the timeout, less one
   * tick.
   */
  long boundNanos(long tickNanos) {
    return provenAtNanos + timeoutNanos - tickNanos;
  }

  long pathBytes() {
    return pathBytes;
  }

  void addPathBytes(long bytes) {
    pathBytes += bytes;
  }

  Set<LeaseId> leases() {
    return leases;
  }
}
