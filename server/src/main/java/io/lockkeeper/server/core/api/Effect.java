package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * Something that the core wants done: its only output. The loop carries effects out in their order.
 */
public interface Effect {

  /** Hands the effect to its handler; an effect without one does not compile. */
  void applyTo(EffectHandler handler);

  /**
   * Enqueue an acquisition.
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
      implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.createEntries(this);
    }
  }

  /**
   * Delete the entries of an acquisition, for certain.
   *
   * @param session the session that owns them
   * @param id the acquisition
   * @param entries the entries
   */
  record DeleteEntries(SessionKey session, UUID id, List<EntryRef> entries) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.deleteEntries(this);
    }
  }

  /**
   * Write a lease's record.
   *
   * @param session the session that shall own it
   * @param lease the lease
   * @param ttlMillis its time to live
   * @param holder who the client is
   * @param secretHash the hash of its secret
   */
  record RecordLease(
      SessionKey session, LeaseId lease, long ttlMillis, String holder, String secretHash)
      implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.recordLease(this);
    }
  }

  /**
   * Delete a lease's record, for certain.
   *
   * @param session the session that owns it
   * @param lease the lease
   */
  record EraseLease(SessionKey session, LeaseId lease) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.eraseLease(this);
    }
  }

  /**
   * Write through the quorum on the mirror's session.
   *
   * @param barrier names it
   */
  record Barrier(long barrier) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.barrier(this);
    }
  }

  /**
   * Read an entry's data.
   *
   * @param lock the lock
   * @param entry the znode name
   */
  record ReadDetails(LockName lock, String entry) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.readDetails(this);
    }
  }

  /**
   * Change an entry that exists. Answered by {@link UpdateEvent.AmendmentAnswered}.
   *
   * @param number names the amendment
   * @param lock the lock
   * @param entry the znode name
   * @param update the change
   */
  record Amend(long number, LockName lock, EntryName entry, EntryUpdate update) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.amend(this);
    }
  }

  /**
   * Set a lock's limit. Answered by {@link UpdateEvent.LimitAnswered}.
   *
   * @param number names the change
   * @param lock the lock
   * @param limit the limit; empty takes the setting back
   */
  record SetLimit(long number, LockName lock, OptionalInt limit) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.setLimit(this);
    }
  }

  /**
   * Delete a guard whose delay has passed. Not answered: the mirror sees it vanish.
   *
   * @param lock the lock
   * @param guard the guard
   */
  record RemoveGuard(LockName lock, MarkerName.Guard guard) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.removeGuard(this);
    }
  }

  /**
   * Tell a stream what happened to an acquisition.
   *
   * @param stream the stream
   * @param requestId the acquisition's name
   * @param sequence numbers the notices of one acquisition from 1
   * @param notice what happened
   */
  record Tell(StreamId stream, String requestId, long sequence, Notice notice) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.tell(this);
    }
  }

  /**
   * Count something that happened to an acquisition, whether or not a stream hears of it. Comes
   * once for each notice, not again when it is told again.
   *
   * @param notice what happened
   */
  record Count(Notice notice) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.count(this);
    }
  }

  /**
   * Tell a stream that an acquisition could not be taken.
   *
   * @param stream the stream
   * @param requestId the acquisition's name
   * @param failure why
   */
  record Refuse(StreamId stream, String requestId, Failure failure) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.refuse(this);
    }
  }

  /**
   * Tell a lease's stream that the lease has ended.
   *
   * @param stream the stream
   * @param end why
   */
  record TellLeaseEnd(StreamId stream, LeaseEnd end) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.tellLeaseEnd(this);
    }
  }

  /**
   * Tell a stream that another has taken its place.
   *
   * @param stream the stream
   */
  record Supersede(StreamId stream) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.supersede(this);
    }
  }

  /**
   * Tell a lease's stream that it ends here and that the lease can be resumed: elsewhere, or here.
   *
   * @param stream the stream
   * @param reason why, for people
   */
  record SendAway(StreamId stream, String reason) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.sendAway(this);
    }
  }

  /**
   * Answer a call.
   *
   * @param call the call
   * @param answer the answer
   */
  record Reply(CallId call, Answer answer) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.reply(this);
    }
  }

  /**
   * Tell the watchers.
   *
   * @param change what changed
   */
  record Publish(LockChange change) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.publish(this);
    }
  }

  /**
   * Tell the watchers that the mirror is whole again and that changes may be missing.
   *
   * @param reason why, for people
   */
  record PublishGap(String reason) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.publishGap(this);
    }
  }
}
