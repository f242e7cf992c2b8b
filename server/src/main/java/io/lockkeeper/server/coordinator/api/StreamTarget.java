package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;

/** Who hears on a stream: the listener of one acquisition, or that of a lease. */
public sealed interface StreamTarget {

  /** Passes a notice on; returns whether nothing can follow on this stream. */
  boolean notice(String requestId, long epoch, long sequence, Notice notice);

  /** Passes a refusal on; returns whether nothing can follow on this stream. */
  boolean refused(String requestId, RefusedException why);

  /** Passes on that the lease has ended. */
  void leaseEnded(LeaseEnd end, String message);

  /** Passes on that the lease is to be resumed, elsewhere or here. */
  void sentAway(Failure why);

  /** Passes on that another stream has taken over. */
  void superseded();

  /** Passes on that nothing more comes of this coordinator on this stream. */
  void abandoned(RefusedException why);

  /**
   * One acquisition's.
   *
   * @param listener who hears
   */
  record OfAcquisition(Coordinator.AcquisitionListener listener) implements StreamTarget {
    @Override
    public boolean notice(String requestId, long epoch, long sequence, Notice notice) {
      listener.onNotice(requestId, epoch, sequence, notice);
      return notice.isFinal();
    }

    @Override
    public boolean refused(String requestId, RefusedException why) {
      listener.onRefused(why);
      return true;
    }

    @Override
    public void leaseEnded(LeaseEnd end, String message) {
      throw new IllegalStateException("an acquisition's stream is told its own ending");
    }

    @Override
    public void sentAway(Failure why) {
      throw new IllegalStateException("an acquisition's stream is refused, not sent away");
    }

    @Override
    public void superseded() {
      listener.onSuperseded();
    }

    @Override
    public void abandoned(RefusedException why) {
      listener.onRefused(why);
    }
  }

  /**
   * A lease's.
   *
   * @param listener who hears
   */
  record OfLease(Coordinator.SessionListener listener) implements StreamTarget {
    @Override
    public boolean notice(String requestId, long epoch, long sequence, Notice notice) {
      listener.onNotice(requestId, epoch, sequence, notice);
      return false;
    }

    @Override
    public boolean refused(String requestId, RefusedException why) {
      listener.onRefused(requestId, why);
      return false;
    }

    @Override
    public void leaseEnded(LeaseEnd end, String message) {
      listener.onLeaseEnded(end, message);
    }

    @Override
    public void sentAway(Failure why) {
      listener.onSentAway(why);
    }

    @Override
    public void superseded() {
      listener.onSuperseded();
    }

    @Override
    public void abandoned(RefusedException why) {
      // The lease lives on in ZooKeeper.
      listener.onSentAway(why.failure());
    }
  }
}
