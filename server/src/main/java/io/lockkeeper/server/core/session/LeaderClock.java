package io.lockkeeper.server.core.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What is known of the clock by which ZooKeeper's leader expires one session: when it was set at
 * the earliest. A write that is answered proves that the leader was the leader, and does not set
 * that clock: the follower that forwards it says only with its next answer to the leader's PING
 * which sessions it has heard. So a proof counts when a later one was sent so much after its answer
 * that the follower has answered a PING between the two; the design derives it.
 */
final class LeaderClock {

  /** How long a follower may keep to itself what it has heard: half a tick, if nobody is late. */
  private static final double LAG_TICKS = 0.75;

  /** What a session's bound is short of its timeout, for clocks that run unevenly. */
  private static final double MARGIN_TICKS = 0.5;

  /** How often a session is proved: the next but one is just later than the lag. */
  private static final double PROOF_TICKS = 0.4;

  /** How many proofs of one lag are kept at most. */
  private static final int PROOFS_PER_LAG = 8;

  private record ProofTime(long sentAtNanos, long answeredAtNanos) {}

  private final long lagNanos;
  private final long marginNanos;
  private final Deque<ProofTime> proofs = new ArrayDeque<>(0);
  private long setAtNanos;

  /** Makes that of a session to which a connection has been made since {@code attachedAtNanos}. */
  LeaderClock(Duration tick, long attachedAtNanos) {
    lagNanos = nanos(tick, LAG_TICKS);
    marginNanos = nanos(tick, MARGIN_TICKS);
    setAtNanos = attachedAtNanos;
  }

  private static long nanos(Duration tick, double ticks) {
    return (long) (tick.toNanos() * ticks);
  }

  /** Returns how much time is to be between two proofs of a session. */
  static long proofIntervalNanos(Duration tick) {
    return nanos(tick, PROOF_TICKS);
  }

  /**
   * Takes a proof.
   *
   * @param sentAtNanos when it was sent
   * @param attachedAtNanos when the connection that it was sent on began to be made: for that, the
   *     leader was asked about the session, and set its clock
   * @param answeredAtNanos when its answer had come, or later
   */
  void proved(long sentAtNanos, long attachedAtNanos, long answeredAtNanos) {
    setSince(attachedAtNanos);
    while (!proofs.isEmpty() && sentAtNanos - proofs.getFirst().answeredAtNanos() - lagNanos >= 0) {
      setSince(proofs.removeFirst().sentAtNanos());
    }
    if (proofs.isEmpty()
        || sentAtNanos - proofs.getLast().sentAtNanos() >= lagNanos / PROOFS_PER_LAG) {
      proofs.addLast(new ProofTime(sentAtNanos, answeredAtNanos));
    }
  }

  private void setSince(long atNanos) {
    if (atNanos - setAtNanos > 0) {
      setAtNanos = atNanos;
    }
  }

  /** Returns until when a session with that timeout is known to live. */
  long boundNanos(long timeoutNanos) {
    return setAtNanos + timeoutNanos - marginNanos;
  }
}
