package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The queues in ZooKeeper, as the coordinator uses them. Every method returns at once and never
 * throws; what came of it arrives as a {@link StoreEvent}, on any thread. All calls come from one
 * thread.
 *
 * <p>Writes that ZooKeeper may or may not have done (a connection lost while they were under way)
 * are resolved by the store: each create and each delete is answered exactly once, when it is
 * certain, or not at all if its session ends first ({@link SessionEvent.SessionEnded} answers them
 * all).
 */
public interface LockStore {

  /**
   * Connects, and keeps trying for ever. Called once, first.
   *
   * @param events where events go
   * @param onFailure told once, on any thread, what was thrown inside the store: its state is in
   *     doubt, so that it does nothing any more, answers nothing, and leaves its sessions as they
   *     are
   */
  void start(Consumer<StoreEvent> events, Consumer<Throwable> onFailure);

  /**
   * Opens a lock session and writes its claim record. Answered by {@link
   * SessionEvent.SessionOpened}; writes asked for before that wait for it.
   */
  void openSession(SessionKey session);

  /**
   * Adopts a lock session that was told to be an orphan: takes its claim, which at most one
   * coordinator can, attaches to it and takes stock of it. Answered by {@link
   * SessionEvent.SessionAdopted}, or by {@link SessionEvent.SessionEnded} if somebody else was
   * first or the session is gone.
   */
  void adoptSession(SessionKey session, String claim);

  /**
   * Closes a lock session that owns nothing, and removes its claim record. One that turns out to
   * own something is dropped instead, answered as deposed, and told as an orphan. Answered by
   * {@link SessionEvent.SessionEnded}. While ZooKeeper is out of reach, keeps trying until the
   * session is closed or has expired.
   */
  void closeSession(SessionKey session);

  /**
   * Proves a lock session with a check-only transaction. Answered by {@link
   * SessionEvent.SessionProved}, if at all.
   */
  void proveSession(SessionKey session);

  /**
   * Enqueues one acquisition: all its entries in one transaction, none if one fails. Answered by
   * {@link StoreEvent.EntriesCreated} or {@link StoreEvent.EntriesRefused}. An entry that is
   * planned beside another is created under the other's sequence number, and refused if the other
   * does not exist any more: the same transaction checks that. The creation of the other need not
   * be answered yet, but must have been asked for before. One whose guard is there already is
   * refused: somebody removed the entry that came with it. The data of each entry says at which
   * place of {@code entries} it was.
   *
   * @param lockDelayMillis if not zero, a guard is created with each entry, by the same transaction
   *     and after the entry
   */
  void createEntries(
      SessionKey session,
      UUID id,
      List<PlannedEntry> entries,
      EntryDetails details,
      int lockDelayMillis);

  /**
   * Deletes the entries of one acquisition, until that is certain; where a guard is named, the
   * guard goes in the same transaction, before its entry. Answered by {@link
   * StoreEvent.EntriesDeleted}.
   */
  void deleteEntries(SessionKey session, UUID id, List<EntryRef> entries);

  /**
   * Writes a lease's record. Answered by {@link StoreEvent.LeaseRecorded} or {@link
   * StoreEvent.LeaseRefused}.
   *
   * @param secretHash the SHA-256 of the lease's secret, in hexadecimal
   */
  void recordLease(
      SessionKey session, LeaseId lease, long ttlMillis, String holder, String secretHash);

  /**
   * Deletes a lease's record, until that is certain. Answered by {@link StoreEvent.LeaseErased}.
   */
  void eraseLease(SessionKey session, LeaseId lease);

  /**
   * Writes through the quorum on the mirror's own session. Answered by {@link
   * StoreEvent.BarrierPassed} or {@link StoreEvent.BarrierFailed}.
   */
  void barrier(long barrier);

  /** Reads an entry's data. Answered by {@link StoreEvent.DetailsRead}. */
  void readDetails(LockName lock, String entry);

  /**
   * Changes an entry that exists, whoever owns it; what others change at the same time is not lost.
   * Answered by {@link UpdateEvent.AmendmentAnswered}, in a bounded time.
   */
  void amend(long number, LockName lock, EntryName entry, EntryUpdate update);

  /**
   * Sets a lock's limit, or takes it back. Answered by {@link UpdateEvent.LimitAnswered}, in a
   * bounded time; the mirror tells it by markers.
   */
  void setLimit(long number, LockName lock, OptionalInt limit);

  /** Deletes a guard, if it is there. Not answered. */
  void removeGuard(LockName lock, MarkerName.Guard guard);

  /**
   * Returns the bytes that the entry's path will take in ZooKeeper, for the cap on what one session
   * may own. Pure.
   */
  int pathBytes(LockName lock, Mode mode);

  /** Returns the bytes that a lease record's path takes in ZooKeeper. Pure. */
  int leasePathBytes();

  /**
   * Ends all handles and threads. Lock sessions that still own entries are abandoned without being
   * closed, so that their entries live until the session timeout or until somebody adopts them.
   */
  void stop();

  /**
   * Finds out who serves a lease, from its record.
   *
   * @param answer gets the answer, on any thread; empty if ZooKeeper does not answer in some
   *     seconds
   */
  void locate(LeaseId lease, Consumer<Optional<LeaseLocation>> answer);

  /**
   * Takes note that a peer does not answer, or can renew no lease: from now on its lock sessions
   * are orphans, until it has been seen to come back.
   */
  void suspect(String id);

  /** Says who hears of the other coordinators, on any thread. Called once at most. */
  void watchPeers(Consumer<List<Peer>> listener);

  /**
   * Leaves: every lock session that owns something is dropped without being closed, so that peers
   * can adopt it, and answered by {@link SessionEvent.SessionEnded} as deposed; then the member
   * node goes, which tells the peers.
   */
  void leave();
}
