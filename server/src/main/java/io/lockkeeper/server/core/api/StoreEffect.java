package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * Something that the core wants done in ZooKeeper. What came of it arrives as a {@link StoreEvent}.
 *
 * <p>Writes that ZooKeeper may or may not have done (a connection lost while they were under way)
 * are resolved by the store: each creation and each deletion is answered exactly once, when it is
 * certain, or not at all if its session ends first ({@link SessionEvent.SessionEnded} answers them
 * all).
 */
public sealed interface StoreEffect extends Effect {

  /** Hands the effect to the store; an effect that the store does not know does not compile. */
  void applyTo(Store store);

  @Override
  default void applyTo(EffectHandler handler) {
    handler.store(this);
  }

  /** Whoever keeps the queues. Every method returns at once and never throws. */
  interface Store {

    /** See {@link OpenSession}. */
    void openSession(OpenSession effect);

    /** See {@link AdoptSession}. */
    void adoptSession(AdoptSession effect);

    /** See {@link CloseSession}. */
    void closeSession(CloseSession effect);

    /** See {@link ProveSession}. */
    void proveSession(ProveSession effect);

    /** See {@link EntryCreation}. */
    void createEntries(CreateEntries effect);

    /** See {@link EntryDeletion}. */
    void deleteEntries(DeleteEntries effect);

    /** See {@link LeaseRecording}. */
    void recordLease(RecordLease effect);

    /** See {@link LeaseErasure}. */
    void eraseLease(EraseLease effect);

    /** See {@link RecordPromises}. */
    void recordPromises(RecordPromises effect);

    /** See {@link Barrier}. */
    void barrier(Barrier effect);

    /** See {@link ReadDetails}. */
    void readDetails(ReadDetails effect);

    /** See {@link UpdateEntry}. */
    void updateEntry(UpdateEntry effect);

    /** See {@link SetLimit}. */
    void setLimit(SetLimit effect);

    /** See {@link RemoveGuard}. */
    void removeGuard(RemoveGuard effect);

    /** See {@link SetFreeze}. */
    void setFreeze(SetFreeze effect);

    /** See {@link RemoveFreeze}. */
    void removeFreeze(RemoveFreeze effect);

    /** See {@link Thaw}. */
    void thaw(Thaw effect);
  }

  /**
   * Open a lock session and write its claim record. Answered by {@link SessionEvent.SessionOpened};
   * writes asked for before that wait for it.
   *
   * @param session the session
   */
  record OpenSession(SessionKey session) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.openSession(this);
    }
  }

  /**
   * Adopt a lock session that was told to be an orphan: take its claim, which at most one
   * coordinator can, attach to it and take stock of it. Answered by {@link
   * SessionEvent.SessionAdopted}, or by {@link SessionEvent.SessionEnded} if somebody else was
   * first or the session is gone.
   *
   * @param session what it is called here from now on
   * @param claim the name of its claim record
   */
  record AdoptSession(SessionKey session, String claim) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.adoptSession(this);
    }
  }

  /**
   * Close a lock session that owns nothing, and remove its claim record. One that turns out to own
   * something is dropped instead, answered as deposed, and told as an orphan. Answered by {@link
   * SessionEvent.SessionEnded}. While ZooKeeper is out of reach, this goes on until the session is
   * closed or has expired.
   *
   * @param session the session
   */
  record CloseSession(SessionKey session) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.closeSession(this);
    }
  }

  /**
   * Prove a lock session with a check-only transaction. Answered by {@link
   * SessionEvent.SessionProved}, if at all.
   *
   * @param session the session
   */
  record ProveSession(SessionKey session) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.proveSession(this);
    }
  }

  /**
   * Enqueue one acquisition: all its entries in one transaction, none if one fails. Answered by
   * {@link StoreEvent.EntriesCreated} or {@link StoreEvent.EntriesRefused}. An entry that is
   * planned beside another is created under the other's sequence number, and refused if the other
   * does not exist any more: the same transaction checks that. The creation of the other need not
   * be answered, but must have been asked for before. One whose guard is there already is refused:
   * somebody removed the entry that came with it. The data of each entry says at which place of
   * {@code entries} it was.
   *
   * @param session the session that shall own the entries
   * @param id the acquisition
   * @param entries what to create
   * @param details what the entries say of themselves
   * @param lockDelayMillis the delay of the guards that are created with them, zero for no guards
   */
  record CreateEntries(
      SessionKey session,
      UUID id,
      List<PlannedEntry> entries,
      EntryDetails details,
      int lockDelayMillis)
      implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.createEntries(this);
    }
  }

  /**
   * Delete the entries of one acquisition, until that is certain; where a guard is named, the guard
   * goes in the same transaction, before its entry. Answered by {@link StoreEvent.EntriesDeleted}.
   *
   * @param session the session that owns them
   * @param id the acquisition
   * @param entries the entries
   */
  record DeleteEntries(SessionKey session, UUID id, List<EntryRef> entries) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.deleteEntries(this);
    }
  }

  /**
   * Write a lease's record. Answered by {@link StoreEvent.LeaseRecorded} or {@link
   * StoreEvent.LeaseRefused}.
   *
   * @param session the session that shall own it
   * @param lease the lease
   * @param ttlMillis its time to live
   * @param holder who the client is
   * @param secretHash the hash of its secret
   * @param identity whose it is; empty: nobody's
   */
  record RecordLease(
      SessionKey session,
      LeaseId lease,
      long ttlMillis,
      String holder,
      String secretHash,
      String identity)
      implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.recordLease(this);
    }
  }

  /**
   * Delete a lease's record, until that is certain. Answered by {@link StoreEvent.LeaseErased}.
   *
   * @param session the session that owns it
   * @param lease the lease
   */
  record EraseLease(SessionKey session, LeaseId lease) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.eraseLease(this);
    }
  }

  /**
   * Record with the claim of a session what its adopter needs, when the coordinator leaves and the
   * session is handed over.
   *
   * @param session the session
   * @param promises what clients were promised
   */
  record RecordPromises(SessionKey session, Promises promises) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.recordPromises(this);
    }
  }

  /**
   * Write through the quorum on the mirror's own session. Answered by {@link
   * StoreEvent.BarrierPassed} or {@link StoreEvent.BarrierFailed}.
   *
   * @param barrier names it
   */
  record Barrier(long barrier) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.barrier(this);
    }
  }

  /**
   * Read an entry's data. Answered by {@link StoreEvent.DetailsRead}.
   *
   * @param lock the lock
   * @param entry the znode name
   */
  record ReadDetails(LockName lock, String entry) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.readDetails(this);
    }
  }

  /**
   * Change an entry that exists, whoever owns it; what others change at the same time is not lost.
   * Answered by {@link UpdateEvent.EntryUpdateAnswered}, in a bounded time.
   *
   * @param number names the update
   * @param lock the lock
   * @param entry the znode name
   * @param update the change
   */
  record UpdateEntry(long number, LockName lock, EntryName entry, EntryUpdate update)
      implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.updateEntry(this);
    }
  }

  /**
   * Set a lock's limit, or take it back. Answered by {@link UpdateEvent.LimitAnswered}, in a
   * bounded time; the mirror tells it by markers.
   *
   * @param number names the change
   * @param lock the lock
   * @param limit the limit; empty takes the setting back
   * @param account the tag of the account that the new marker counts for
   */
  record SetLimit(long number, LockName lock, OptionalInt limit, String account)
      implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.setLimit(this);
    }
  }

  /**
   * Delete a guard, if it is there. Not answered: the mirror sees it vanish.
   *
   * @param lock the lock
   * @param guard the guard
   */
  record RemoveGuard(LockName lock, MarkerName.Guard guard) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.removeGuard(this);
    }
  }

  /**
   * Freeze a prefix, or replace its record. Answered by {@link FreezeEvent.Answered}, in a bounded
   * time; the mirror tells of it too.
   *
   * @param number names the change
   * @param freeze the freeze
   */
  record SetFreeze(long number, Freeze freeze) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.setFreeze(this);
    }
  }

  /**
   * Take a freeze back, whatever its record says. Answered by {@link FreezeEvent.Answered}, in a
   * bounded time; the mirror tells of it too.
   *
   * @param number names the change
   * @param prefix the frozen prefix
   */
  record RemoveFreeze(long number, String prefix) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.removeFreeze(this);
    }
  }

  /**
   * Take a freeze back whose time is over, unless its record was written again since. Not answered:
   * the mirror sees it vanish.
   *
   * @param prefix the frozen prefix
   * @param zxid the transaction that wrote the record whose time is over
   */
  record Thaw(String prefix, long zxid) implements StoreEffect {
    @Override
    public void applyTo(Store store) {
      store.thaw(this);
    }
  }
}
