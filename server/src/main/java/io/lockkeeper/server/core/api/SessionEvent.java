package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Something that happened to one lock session. */
public sealed interface SessionEvent extends StoreEvent {

  /**
   * A lock session is open and has its claim record.
   *
   * @param session the session
   * @param timeoutNanos the timeout that ZooKeeper granted
   * @param provenAtNanos when the quorum write that proves it was sent, on the coordinator's
   *     monotonic clock
   * @param attachedAtNanos when the connection that it was sent on began to be made
   */
  record SessionOpened(
      SessionKey session, long timeoutNanos, long provenAtNanos, long attachedAtNanos)
      implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionOpened(this);
    }
  }

  /**
   * A quorum write on a lock session was answered: the session was alive after the write was sent.
   *
   * @param session the session
   * @param sentAtNanos when the write was sent, on the coordinator's monotonic clock
   * @param attachedAtNanos when the connection that it was sent on began to be made
   */
  record SessionProved(SessionKey session, long sentAtNanos, long attachedAtNanos)
      implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionProved(this);
    }
  }

  /**
   * A lock session has lost its connection; it may still be alive.
   *
   * @param session the session
   */
  record SessionSuspended(SessionKey session) implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionSuspended(this);
    }
  }

  /**
   * A lock session is gone from ZooKeeper with all its entries, or is closed, or belongs to another
   * coordinator now.
   *
   * @param session the session
   * @param deposed true if another coordinator has claimed it: its entries may live on
   */
  record SessionEnded(SessionKey session, boolean deposed) implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionEnded(this);
    }
  }

  /**
   * A lock session of another coordinator has nobody who looks after it: its owner has left, or is
   * suspected to be dead. Told again from time to time while that is so. Answered with {@link
   * StoreEffect.AdoptSession} by whoever wants it.
   *
   * @param claim the name of its claim record
   */
  record OrphanFound(String claim) implements SessionEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onOrphanFound(this);
    }
  }

  /**
   * A lock session was adopted: it is ours with all that it owns. The previous owner, if it still
   * lives, can write nothing on it any more, but may not know that yet.
   *
   * @param session the session
   * @param epoch its epoch: one more than that of the previous owner's service
   * @param timeoutNanos the timeout that ZooKeeper granted
   * @param provenAtNanos when the quorum write that proves it was sent, on the coordinator's
   *     monotonic clock
   * @param attachedAtNanos when the connection that it was sent on began to be made
   * @param takenAtNanos when it was certain that the claim is ours: no proof of the previous
   *     owner's was sent after that
   * @param certain whether the previous owner is dead for certain, so that nobody can still rely on
   *     it
   * @param promises what the previous owner recorded, if it left in good order
   * @param leases the lease records on it
   * @param entries the entries on it
   */
  record SessionAdopted(
      SessionKey session,
      long epoch,
      long timeoutNanos,
      long provenAtNanos,
      long attachedAtNanos,
      long takenAtNanos,
      boolean certain,
      Optional<Promises> promises,
      List<AdoptedLease> leases,
      List<AdoptedEntry> entries)
      implements SessionEvent {

    /** Copies the lists. */
    public SessionAdopted {
      leases = List.copyOf(leases);
      entries = List.copyOf(entries);
    }

    /**
     * Returns for how long after the claim was taken the client of a lease can rely on what it was
     * told before, if the previous owner recorded that.
     */
    public Optional<Long> promisedNanos(LeaseId lease) {
      return promises
          .flatMap(all -> Optional.ofNullable(all.leases().get(lease.tag())))
          .map(Duration::toNanos);
    }

    @Override
    public void applyTo(EventHandler handler) {
      handler.onSessionAdopted(this);
    }
  }

  /**
   * A lease as its record says.
   *
   * @param lease the lease
   * @param ttlMillis its time to live
   * @param holder who the client is
   * @param secretHash the hash of its secret
   * @param identity whose it is; empty: nobody's
   */
  record AdoptedLease(
      LeaseId lease, long ttlMillis, String holder, String secretHash, String identity) {}

  /**
   * An entry that an adopted session owns.
   *
   * @param lock the lock
   * @param name the znode name
   * @param read what it says of itself, and its creation
   */
  record AdoptedEntry(LockName lock, EntryName name, StoreEvent.ReadEntry read) {}
}
