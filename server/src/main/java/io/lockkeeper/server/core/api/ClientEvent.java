package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;

/** Something that a client did. */
public sealed interface ClientEvent extends Event {

  /**
   * A client opens a lease. Answered by {@link Answer.LeaseOpened}.
   *
   * @param call who waits for the answer
   * @param lease the new lease's id
   * @param secretHash the hash of its secret
   * @param ttl how long it lives without a keep-alive
   * @param holder who the client is, human-readable
   */
  record OpenLease(CallId call, LeaseId lease, String secretHash, Duration ttl, String holder)
      implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onOpenLease(this);
    }
  }

  /**
   * A client makes a stream the target of all notices of a lease; a stream that was it before is
   * told {@link Effect.Supersede}. Renews the lease. Answered by {@link Answer.LeaseAttached}; then
   * the last notice of each acquisition is told again.
   *
   * @param call who waits for the answer
   * @param lease the lease
   * @param secretHash the hash of the secret that the client sent
   * @param stream where notices go
   */
  record AttachLease(CallId call, LeaseId lease, String secretHash, StreamId stream)
      implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onAttachLease(this);
    }
  }

  /**
   * A client renews a lease. Answered by {@link Answer.LeaseRenewed}.
   *
   * @param call who waits for the answer
   * @param lease the lease
   */
  record KeepAlive(CallId call, LeaseId lease) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onKeepAlive(this);
    }
  }

  /**
   * A client closes a lease. Answered by {@link Answer.LeaseClosed}.
   *
   * @param call who waits for the answer
   * @param lease the lease
   */
  record CloseLease(CallId call, LeaseId lease) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onCloseLease(this);
    }
  }

  /**
   * A client asks for locks; what happens is told to the stream.
   *
   * @param stream where notices go
   * @param id names the entries in ZooKeeper: fresh, its first half that of {@code lease}
   * @param lease the lease; for a request without one, a fresh id that the stream becomes
   * @param command what is asked for
   * @param session whether the stream serves the whole lease, and not this acquisition alone
   */
  record Acquire(StreamId stream, UUID id, LeaseId lease, AcquireCommand command, boolean session)
      implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onAcquire(this);
    }
  }

  /**
   * A client releases or withdraws an acquisition. Answered by {@link Answer.ReleaseDone}.
   *
   * @param call who waits for the answer
   * @param lease the lease
   * @param requestId the acquisition
   * @param token a token that must be the acquisition's, or zero
   */
  record Release(CallId call, LeaseId lease, String requestId, long token) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onRelease(this);
    }
  }

  /**
   * A client asks for a position notice of a waiting acquisition.
   *
   * @param call who waits for the answer
   * @param lease the lease
   * @param requestId the acquisition
   */
  record QueryPosition(CallId call, LeaseId lease, String requestId) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onQueryPosition(this);
    }
  }

  /**
   * Somebody looks at locks. Answered by {@link Answer.LocksShown}: as they are now, as soon as
   * those in them are known, and within some seconds without those who are not.
   *
   * @param call who waits for the answer
   * @param locks the locks
   * @param queueLimit how many waiters are to be seen
   */
  record ShowLocks(CallId call, List<LockName> locks, int queueLimit) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onShowLocks(this);
    }
  }

  /**
   * A watch looks at locks. Answered by {@link Answer.LocksShown} in its turn among the changes
   * that are published: after those that it contains, and before all others.
   *
   * @param call who waits for the answer
   * @param locks the locks
   */
  record WatchLocks(CallId call, List<LockName> locks) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onWatchLocks(this);
    }
  }

  /**
   * Somebody watches locks from now on: their changes are described. Of all others it is only told
   * that there were some.
   *
   * @param names the locks; empty: those of the prefix
   * @param prefix all whose names begin with this
   */
  record WatchBegan(Set<LockName> names, String prefix) implements ClientEvent {

    /** Copies the names. */
    public WatchBegan {
      names = Set.copyOf(names);
    }

    @Override
    public void applyTo(EventHandler handler) {
      handler.onWatchBegan(this);
    }
  }

  /**
   * A watch that has begun is over.
   *
   * @param names as it began
   * @param prefix as it began
   */
  record WatchEnded(Set<LockName> names, String prefix) implements ClientEvent {

    /** Copies the names. */
    public WatchEnded {
      names = Set.copyOf(names);
    }

    @Override
    public void applyTo(EventHandler handler) {
      handler.onWatchEnded(this);
    }
  }

  /**
   * A client asks whether a token is current. Answered by {@link Answer.TokenChecked} after a write
   * through the quorum.
   *
   * @param call who waits for the answer
   * @param lock the lock
   * @param token the token
   */
  record CheckToken(CallId call, LockName lock, long token) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onCheckToken(this);
    }
  }

  /**
   * Somebody asks the holders of a lock to give way. Answered by {@link Answer.ReleaseAsked}.
   *
   * @param call who waits for the answer
   * @param lock the lock
   * @param ask the wish, not by force
   */
  record RequestRelease(CallId call, LockName lock, RevocationRequest ask) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onRequestRelease(this);
    }
  }

  /**
   * An operator takes a lock away from its holders, and ends the lock delays that keep it closed.
   * Answered by {@link Answer.Forced}.
   *
   * @param call who waits for the answer
   * @param lock the lock
   * @param token only from the holder with this token, and no delay is ended; zero: from every
   *     holder
   * @param ask the wish, by force; with a deadline, the holders have that long to give way
   */
  record ForceRelease(CallId call, LockName lock, long token, RevocationRequest ask)
      implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onForceRelease(this);
    }
  }

  /**
   * A holder answers a wish to give way. Answered by {@link Answer.Described}.
   *
   * @param call who waits for the answer
   * @param lease the lease
   * @param requestId the acquisition
   * @param needs how much longer it needs the locks
   */
  record AnswerRelease(CallId call, LeaseId lease, String requestId, Duration needs)
      implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onAnswerRelease(this);
    }
  }

  /**
   * A client replaces the metadata of an acquisition. Answered by {@link Answer.Described}.
   *
   * @param call who waits for the answer
   * @param lease the lease
   * @param requestId the acquisition
   * @param metadata the new metadata
   */
  record UpdateMetadata(CallId call, LeaseId lease, String requestId, Map<String, String> metadata)
      implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onUpdateMetadata(this);
    }
  }

  /**
   * Somebody sets the limit of a lock of permits. Answered by {@link Answer.LimitSet}.
   *
   * @param call who waits for the answer
   * @param lock the lock
   * @param limit the limit; empty takes the setting back
   */
  record ConfigureLock(CallId call, LockName lock, OptionalInt limit) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onConfigureLock(this);
    }
  }

  /**
   * An operator freezes a prefix. Answered by {@link Answer.FreezeChanged}.
   *
   * @param call who waits for the answer
   * @param freeze the freeze
   */
  record Freeze(CallId call, io.lockkeeper.server.core.lock.Freeze freeze) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onFreeze(this);
    }
  }

  /**
   * An operator thaws a prefix. Answered by {@link Answer.FreezeChanged}.
   *
   * @param call who waits for the answer
   * @param prefix the prefix, as it was frozen
   */
  record Unfreeze(CallId call, String prefix) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onUnfreeze(this);
    }
  }

  /**
   * An operator closes somebody's lease. Answered by {@link Answer.LeaseClosed}.
   *
   * @param call who waits for the answer
   * @param lease the lease, by its id or by its tag
   * @param reason why, human-readable
   */
  record ForceCloseLease(CallId call, LeaseName lease, String reason) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onForceCloseLease(this);
    }
  }

  /**
   * A stream is gone: closed, cancelled or broken.
   *
   * @param stream the stream
   * @param cancelled whether its client has cancelled the call, as far as that can be told from a
   *     connection that broke
   */
  record StreamClosed(StreamId stream, boolean cancelled) implements ClientEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onStreamClosed(this);
    }
  }
}
