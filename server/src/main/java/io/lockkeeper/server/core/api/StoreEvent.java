package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Something that ZooKeeper did or said. Events of the mirror arrive in ZooKeeper's order; events of
 * one lock session arrive in that session's order; nothing is promised between sessions.
 */
public non-sealed interface StoreEvent extends Event {

  /**
   * An entry appeared in a lock's queue.
   *
   * @param lock the lock
   * @param entry the znode name
   * @param zxid the transaction that created it
   */
  record EntryAppeared(LockName lock, EntryName entry, long zxid) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onEntryAppeared(this);
    }
  }

  /**
   * An entry vanished from a lock's queue.
   *
   * @param lock the lock
   * @param entry the znode name
   * @param zxid the transaction that deleted it
   */
  record EntryVanished(LockName lock, EntryName entry, long zxid) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onEntryVanished(this);
    }
  }

  /**
   * The data of an entry has changed.
   *
   * @param lock the lock
   * @param entry the znode name
   * @param zxid the transaction that changed it
   */
  record EntryChanged(LockName lock, EntryName entry, long zxid) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onEntryChanged(this);
    }
  }

  /**
   * A marker appeared in a lock's directory.
   *
   * @param lock the lock
   * @param marker the marker
   * @param zxid the transaction that created it
   */
  record MarkerAppeared(LockName lock, MarkerName marker, long zxid) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onMarkerAppeared(this);
    }
  }

  /**
   * A marker vanished from a lock's directory.
   *
   * @param lock the lock
   * @param marker the marker
   * @param zxid the transaction that deleted it
   */
  record MarkerVanished(LockName lock, MarkerName marker, long zxid) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onMarkerVanished(this);
    }
  }

  /** The mirror may have missed events: no new grant until it has been rebuilt. */
  record MirrorStale() implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onMirrorStale(this);
    }
  }

  /**
   * A rebuild begins: these are all the locks that have a directory. Every other lock has no
   * entries. One {@link QueueListed} for each follows, interleaved with new events in ZooKeeper's
   * order, and then {@link MirrorCurrent}.
   *
   * @param locks the locks
   */
  record RebuildStarted(Set<LockName> locks) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onRebuildStarted(this);
    }
  }

  /**
   * The whole queue of one lock at this place in the order of events.
   *
   * @param lock the lock
   * @param entries the entries, in any order
   * @param markers the markers, in any order
   */
  record QueueListed(LockName lock, List<ListedEntry> entries, List<MarkerName> markers)
      implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onQueueListed(this);
    }
  }

  /**
   * An entry as a listing found it.
   *
   * @param name the znode name
   * @param czxid its creation zxid, read only where sequence numbers tie
   * @param index its index in its transaction, zero where it was not read
   */
  record ListedEntry(EntryName name, Optional<Long> czxid, int index) {}

  /** The mirror is whole again. */
  record MirrorCurrent() implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onMirrorCurrent(this);
    }
  }

  /**
   * The entries of one acquisition exist, all created by one transaction.
   *
   * @param id the acquisition
   * @param entries one for each lock asked for, in that order
   */
  record EntriesCreated(UUID id, List<CreatedEntry> entries) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onEntriesCreated(this);
    }
  }

  /**
   * One created entry.
   *
   * @param lock the lock
   * @param name the znode name
   * @param czxid the creation zxid
   * @param index the index among the entries that the transaction created in this lock
   */
  record CreatedEntry(LockName lock, EntryName name, long czxid, int index) {}

  /**
   * The entries of one acquisition do not exist and will not: ZooKeeper refused them.
   *
   * @param id the acquisition
   * @param message why, human-readable
   * @param passing whether the same request may succeed once somebody has mended ZooKeeper's nodes
   */
  record EntriesRefused(UUID id, String message, boolean passing) implements StoreEvent {

    /** Refused for a reason that a retry does not mend. */
    public EntriesRefused(UUID id, String message) {
      this(id, message, false);
    }

    @Override
    public void applyTo(EventHandler handler) {
      handler.onEntriesRefused(this);
    }
  }

  /**
   * The entries of one acquisition cannot be deleted for now. The store tries on; told after each
   * attempt.
   *
   * @param id the acquisition
   * @param message why, human-readable
   */
  record DeletionDelayed(UUID id, String message) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onDeletionDelayed(this);
    }
  }

  /**
   * The entries of one acquisition are gone for good.
   *
   * @param id the acquisition
   */
  record EntriesDeleted(UUID id) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onEntriesDeleted(this);
    }
  }

  /**
   * A lease's record exists.
   *
   * @param session the session that owns it
   * @param lease the lease
   */
  record LeaseRecorded(SessionKey session, LeaseId lease) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onLeaseRecorded(this);
    }
  }

  /**
   * A lease's record was refused.
   *
   * @param session the session that was to own it
   * @param lease the lease
   * @param message why, human-readable
   * @param taken whether the reason is that another session has a lease of that id
   * @param passing whether the same request may succeed once somebody has mended ZooKeeper's nodes
   */
  record LeaseRefused(
      SessionKey session, LeaseId lease, String message, boolean taken, boolean passing)
      implements StoreEvent {

    /** Refused for a reason that a retry does not mend. */
    public LeaseRefused(SessionKey session, LeaseId lease, String message, boolean taken) {
      this(session, lease, message, taken, false);
    }

    @Override
    public void applyTo(EventHandler handler) {
      handler.onLeaseRefused(this);
    }
  }

  /**
   * A lease's record is gone for good.
   *
   * @param session the session that owned it
   * @param lease the lease
   */
  record LeaseErased(SessionKey session, LeaseId lease) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onLeaseErased(this);
    }
  }

  /**
   * A barrier has passed: the mirror has seen everything that was committed before the barrier was
   * asked for.
   *
   * @param barrier the barrier's number
   */
  record BarrierPassed(long barrier) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onBarrierPassed(this);
    }
  }

  /**
   * A barrier failed; nothing is known.
   *
   * @param barrier the barrier's number
   */
  record BarrierFailed(long barrier) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onBarrierFailed(this);
    }
  }

  /**
   * The data of an entry was read.
   *
   * @param lock the lock
   * @param entry the znode name
   * @param read what was read, or empty if the entry is gone or could not be read
   */
  record DetailsRead(LockName lock, String entry, Optional<ReadEntry> read) implements StoreEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onDetailsRead(this);
    }
  }

  /**
   * An entry's data and creation.
   *
   * @param details what the entry says of itself
   * @param czxid its creation zxid; zero where ZooKeeper does not tell, since the entry must not be
   *     read
   * @param index its index within its transaction, zero for entries that are not ours
   * @param ordinal which lock of its request it is for, from zero
   * @param keptToken the token that it keeps of the hold that it goes on, if it does
   */
  record ReadEntry(
      EntryDetails details, long czxid, int index, int ordinal, Optional<FencingToken> keptToken) {

    /** Makes that of an entry which is the first of its request, or of none of ours. */
    public ReadEntry(
        EntryDetails details, long czxid, int index, Optional<FencingToken> keptToken) {
      this(details, czxid, index, 0, keptToken);
    }

    /** Returns the entry's fencing token. */
    public FencingToken token() {
      return keptToken.orElseGet(() -> FencingToken.of(czxid, index));
    }
  }
}
