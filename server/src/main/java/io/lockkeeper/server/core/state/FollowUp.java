package io.lockkeeper.server.core.state;

/**
 * What has happened inside the core while it took an event, and concerns other parts of it: done
 * when whoever noticed it has finished.
 */
public sealed interface FollowUp {

  /**
   * A holder has released; its deletion is on its way.
   *
   * @param acquisition the acquisition
   */
  record Releasing(Acquisition acquisition) implements FollowUp {}

  /**
   * An acquisition has begun to wait, and may be ended here.
   *
   * @param acquisition the acquisition
   */
  record Waiting(Acquisition acquisition) implements FollowUp {}

  /**
   * Nothing is left of one of a lease's acquisitions.
   *
   * @param lease the lease
   */
  record Gone(Lease lease) implements FollowUp {}
}
