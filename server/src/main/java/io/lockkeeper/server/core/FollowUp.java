package io.lockkeeper.server.core;

/**
 * What has happened inside the core while it took an event, and concerns other parts of it: done
 * when whoever noticed it has finished.
 */
sealed interface FollowUp {

  /**
   * A holder has released; its deletion is on its way.
   *
   * @param ticket the acquisition
   */
  record Releasing(Ticket ticket) implements FollowUp {}

  /**
   * An acquisition has begun to wait, and may be ended here.
   *
   * @param ticket the acquisition
   */
  record Waiting(Ticket ticket) implements FollowUp {}

  /**
   * Nothing is left of one of a lease's acquisitions.
   *
   * @param lease the lease
   */
  record Gone(Lease lease) implements FollowUp {}
}
