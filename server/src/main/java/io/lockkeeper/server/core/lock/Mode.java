package io.lockkeeper.server.core.lock;

/**
 * What one hold asks of a lock, as the admission rule sees it. Belongs to a {@link Kind}.
 *
 * <p>Queues are strictly first come, first served: a mode says with whom it shares, never whom it
 * overtakes. That is also what makes fencing tokens rise, since they come from the order of
 * creation.
 */
public interface Mode {

  /** Returns the kind; modes of different kinds never hold together. */
  Kind kind();

  /** Returns what stands between the uuid and the sequence number in the entry's name. */
  String marker();

  /**
   * Decides whether an entry of this mode may hold while everything ahead of it holds.
   *
   * @param ahead what is ahead of the entry: nothing, or holders of the same kind
   */
  boolean joins(Occupancy ahead);

  /** Returns how much the hold takes of what is shared: permits. */
  default int weight() {
    return 1;
  }

  /** Returns how much there is to share, as the request names it. */
  default int capacity() {
    return Integer.MAX_VALUE;
  }

  /** Returns whether an owner that holds the lock in this mode holds it once more at once. */
  default boolean isReentrant() {
    return true;
  }
}
