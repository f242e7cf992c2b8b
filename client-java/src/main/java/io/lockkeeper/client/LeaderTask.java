package io.lockkeeper.client;

/**
 * The work of a leader: see {@link LeaderElection#run}.
 *
 * @param <X> what it throws besides unchecked exceptions
 */
@FunctionalInterface
public interface LeaderTask<X extends Exception> {

  /**
   * Leads. Its thread is interrupted when the leadership is lost.
   *
   * @param leadership its token is for whatever the leader changes
   */
  void lead(Leadership leadership) throws X;
}
