package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;

/** Something that happened to one acquisition: the only input of {@link AcquisitionState#on}. */
public sealed interface AcquisitionEvent {

  /** Hands the event to its handler; an event without one does not compile. */
  AcquisitionState.Transition applyTo(AcquisitionState state);

  /** ZooKeeper has created the entries. */
  record Created() implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onCreated();
    }
  }

  /**
   * ZooKeeper refuses to create the entries.
   *
   * @param message why
   * @param passing whether the same request may succeed later
   */
  record Refused(String message, boolean passing) implements AcquisitionEvent {

    /** Refused for good. */
    public Refused(String message) {
      this(message, false);
    }

    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onRefused(message, passing);
    }
  }

  /**
   * The mirror has seen the entries, and not all of them may hold.
   *
   * @param queued where they stand
   */
  record Placed(Notice.Queued queued) implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onPlaced(queued);
    }
  }

  /**
   * Everything ahead of the entries became compatible with them.
   *
   * @param granted the grant
   */
  record Admitted(Notice.Granted granted) implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onAdmitted(granted);
    }
  }

  /**
   * The request may wait no longer: its timeout ran out, or its place is beyond the cap.
   *
   * @param ending what the client is told
   */
  record WaitExpired(Notice.NotAcquired ending) implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onWaitExpired(ending);
    }
  }

  /** The client releases or withdraws. */
  record ReleaseAsked() implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onReleaseAsked();
    }
  }

  /**
   * The lease has ended.
   *
   * @param end why
   * @param message why, human-readable, may be empty
   */
  record LeaseEnded(LeaseEnd end, String message) implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onLeaseEnded(end, message);
    }
  }

  /** The session could not be proved alive within its bound; its entries may still exist. */
  record BoundLost() implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onBoundLost();
    }
  }

  /** The session has ended, and the entries with it or out of our reach. */
  record SessionGone() implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onSessionGone();
    }
  }

  /** An entry has vanished without our doing. */
  record Removed() implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onRemoved();
    }
  }

  /**
   * The locks are taken away from the holder.
   *
   * @param ending what the client is told
   */
  record TakenAway(Notice.Lost ending) implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onTakenAway(ending);
    }
  }

  /** The entries are gone for good. */
  record Deleted() implements AcquisitionEvent {
    @Override
    public AcquisitionState.Transition applyTo(AcquisitionState state) {
      return state.onDeleted();
    }
  }
}
