package io.lockkeeper.server.core.session;

import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Lease;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The pool of lock sessions. Each owns a bounded number of path bytes; new ones open as the old
 * fill, empty ones close. A lease lives on one session with all its entries.
 */
public final class SessionPool {

  /** After which part of its timeout without a proof a session is in jeopardy. */
  private static final int JEOPARDY_PART = 3;

  /**
   * How many leases with a record share a session while more may be opened: where all are of one
   * account each has that part of half of it for certain, which is some four entries.
   */
  private static final int MAX_RECORDS = 512;

  private final CoreState core;
  private final Map<SessionKey, LockSession> sessions = new LinkedHashMap<>();
  private SessionPoolListener listener = SessionPoolListener.NONE;
  private int keys;

  public SessionPool(CoreState core) {
    this.core = core;
  }

  public void listen(SessionPoolListener value) {
    listener = value;
  }

  public Collection<LockSession> all() {
    return sessions.values();
  }

  public Optional<LockSession> find(SessionKey key) {
    return Optional.ofNullable(sessions.get(key));
  }

  /** Returns whether some session is in contact with ZooKeeper, so that new work can be taken. */
  public boolean anyInContact() {
    return sessions.values().stream().anyMatch(LockSession::isInContact);
  }

  /**
   * Returns a session for a new lease and opens the next one in time, or empty if the pool is as
   * large as it may be, and full.
   */
  public Optional<LockSession> forNewLease() {
    List<LockSession> roomy = sessions.values().stream().filter(this::isRoomy).toList();
    if (roomy.isEmpty()) {
      return open().or(this::leastShared);
    }
    LockSession chosen =
        roomy.stream().filter(LockSession::isSure).findFirst().orElseGet(() -> roomy.get(0));
    if (roomy.size() == 1
        && (chosen.pathBytes() > half() * 3 / 4 || chosen.records() > MAX_RECORDS * 3 / 4)) {
      open();
    }
    return Optional.of(chosen);
  }

  /** The other half of each session is for the shares of the leases that are there. */
  private long half() {
    return core.settings.maxSessionPathBytes() / 2;
  }

  private boolean hasRoom(LockSession session) {
    return session.takesLeases() && session.pathBytes() < half();
  }

  private boolean isRoomy(LockSession session) {
    return hasRoom(session) && session.records() < MAX_RECORDS;
  }

  /** No more sessions may be opened: the shares become smaller, alike everywhere. */
  private Optional<LockSession> leastShared() {
    return sessions.values().stream()
        .filter(this::hasRoom)
        .min(Comparator.comparingInt(LockSession::records));
  }

  /** Opens one more session, unless there are as many as may be. */
  public Optional<LockSession> open() {
    // Those that were adopted come on top: they take nothing new, and refusing one would lose
    // locks.
    long own = sessions.values().stream().filter(s -> s.claim().isEmpty()).count();
    if (own >= core.settings.maxSessions()) {
      return Optional.empty();
    }
    LockSession session = LockSession.opening(new SessionKey(++keys));
    sessions.put(session.key(), session);
    core.emit(new StoreEffect.OpenSession(session.key()));
    return Optional.of(session);
  }

  /** Closes a session that owns nothing, if it is not needed for new leases. */
  public void closeEmpty(LockSession candidate) {
    boolean empty = candidate.leases().isEmpty() && candidate.pathBytes() == 0;
    boolean open =
        candidate.state() == LockSession.SessionState.OPEN
            || candidate.state() == LockSession.SessionState.GIVEN_UP;
    if (empty && open && (!candidate.takesLeases() || hasSpare(candidate))) {
      close(candidate);
    }
  }

  private boolean hasSpare(LockSession candidate) {
    return sessions.values().stream()
        .filter(this::isRoomy)
        .anyMatch(other -> other != candidate && other.state() == LockSession.SessionState.OPEN);
  }

  private void close(LockSession session) {
    session.closing();
    core.emit(new StoreEffect.CloseSession(session.key()));
  }

  /** Returns how long the session is known to live from now on, zero if it is not. */
  public long boundLeftNanos(LockSession session) {
    if (session.state() != LockSession.SessionState.OPEN) {
      return 0;
    }
    return Math.max(0, session.boundNanos() - core.now);
  }

  /**
   * Returns whether a session has been without contact for so long that clients, who count from
   * their own side, give up what they have on it.
   */
  boolean isAllButLost(SessionKey key) {
    return find(key)
        .filter(LockSession::isSuspended)
        .filter(session -> boundLeftNanos(session) < core.settings.tick().toNanos())
        .isPresent();
  }

  public void onOpened(SessionEvent.SessionOpened event) {
    find(event.session())
        .filter(session -> session.state() == LockSession.SessionState.OPENING)
        .ifPresent(
            session -> {
              opened(session, event.timeoutNanos(), event.provenAtNanos(), event.attachedAtNanos());
              listener.onProved(session, false);
            });
  }

  /** An adopted session is ours; returns it, unless it is unknown or ended meanwhile. */
  public Optional<LockSession> onAdopted(SessionEvent.SessionAdopted event) {
    Optional<LockSession> adopted =
        find(event.session())
            .filter(session -> session.state() == LockSession.SessionState.OPENING);
    adopted.ifPresent(
        session -> {
          session.epoch(event.epoch());
          opened(session, event.timeoutNanos(), event.provenAtNanos(), event.attachedAtNanos());
        });
    return adopted;
  }

  private void opened(
      LockSession session, long timeoutNanos, long provenAtNanos, long attachedAtNanos) {
    LeaderClock clock = new LeaderClock(core.settings.tick(), attachedAtNanos);
    clock.proved(provenAtNanos, attachedAtNanos, core.now);
    session.opened(timeoutNanos, provenAtNanos, clock);
    armProof(session);
    armBound(session);
  }

  /** Adopts a session that nobody looks after, unless that is under way. */
  public void onOrphan(SessionEvent.OrphanFound event) {
    Optional<String> claim = Optional.of(event.claim());
    if (core.draining || sessions.values().stream().anyMatch(s -> s.claim().equals(claim))) {
      return;
    }
    LockSession session = LockSession.adopting(new SessionKey(++keys), event.claim());
    sessions.put(session.key(), session);
    core.emit(new StoreEffect.AdoptSession(session.key(), event.claim()));
  }

  public void onProved(SessionEvent.SessionProved event) {
    find(event.session())
        .filter(session -> session.state() == LockSession.SessionState.OPEN)
        .ifPresent(
            session -> {
              boolean wasUnsure = session.isUnsure();
              boolean wasSuspended = session.isSuspended();
              session.proved(event.sentAtNanos());
              session.leaderClock().proved(event.sentAtNanos(), event.attachedAtNanos(), core.now);
              if (wasUnsure && !session.isUnsure()) {
                session.resume();
                listener.onProved(session, wasSuspended);
              } else if (session.isUnsure()) {
                // The proof was sent before the doubt arose: ask for one that is sent from now on.
                core.emit(new StoreEffect.ProveSession(session.key()));
              }
              session.answer(event.sentAtNanos());
              if (session.isAsked() && !session.isUnsure()) {
                // For those who asked when that proof was under way.
                core.emit(new StoreEffect.ProveSession(session.key()));
              }
            });
  }

  /**
   * Runs {@code ours} when it is certain that the session was ours after this moment, or {@code
   * not} if that will not be known. What this coordinator does not know of, another may have done.
   */
  public void ask(LockSession session, Runnable ours, Runnable not) {
    boolean first = !session.isAsked();
    if (session.state() != LockSession.SessionState.OPEN || !session.ask(core.now, ours, not)) {
      not.run();
    } else if (first) {
      core.emit(new StoreEffect.ProveSession(session.key()));
    }
  }

  public void onSuspended(SessionEvent.SessionSuspended event) {
    find(event.session()).ifPresent(this::suspend);
  }

  private void suspend(LockSession session) {
    session.doubt(core.now);
    if (session.state() == LockSession.SessionState.OPEN && !session.isSuspended()) {
      session.suspend(core.now);
      listener.onSuspended(session);
      armForsaken(session, core.now);
    }
  }

  private void armForsaken(LockSession session, long sinceNanos) {
    core.timers.at(
        core.now + core.settings.sendAwayAfter().toNanos(),
        () -> {
          boolean still = session.isSuspended() && session.suspendedSinceNanos() == sinceNanos;
          if (still && session.state() == LockSession.SessionState.OPEN) {
            listener.onForsaken(session);
            armForsaken(session, sinceNanos);
          }
        });
  }

  public void onEnded(SessionEvent.SessionEnded event) {
    Optional.ofNullable(sessions.remove(event.session()))
        .ifPresent(
            session -> {
              session.closing();
              session.dropQuestions();
              if (event.deposed()) {
                listener.onDeposed(session);
              } else {
                listener.onGone(session);
              }
              session.leases().clear();
              openIfNoneIsLeft();
            });
  }

  /** After a pause of this process nothing is certain until it has been proved again. */
  public void onStalled() {
    for (LockSession session : sessions.values()) {
      if (session.state() == LockSession.SessionState.OPEN) {
        session.doubt(core.now);
        core.emit(new StoreEffect.ProveSession(session.key()));
      }
    }
  }

  private long proofIntervalNanos() {
    return LeaderClock.proofIntervalNanos(core.settings.tick());
  }

  private void armProof(LockSession session) {
    core.timers.at(core.now + proofIntervalNanos(), () -> proofDue(session));
  }

  private void proofDue(LockSession session) {
    if (session.state() != LockSession.SessionState.OPEN) {
      return;
    }
    long age = core.now - session.provenAtNanos();
    if (age >= session.timeoutNanos() / JEOPARDY_PART && !session.isSuspended()) {
      suspend(session);
    }
    if (age >= proofIntervalNanos() / 2) {
      core.emit(new StoreEffect.ProveSession(session.key()));
    }
    armProof(session);
  }

  private void armBound(LockSession session) {
    core.timers.at(session.boundNanos(), () -> boundDue(session));
  }

  private void boundDue(LockSession session) {
    if (session.state() != LockSession.SessionState.OPEN) {
      return;
    }
    if (boundLeftNanos(session) > 0) {
      armBound(session);
      return;
    }
    // A client without a lease hears of it later by its latency: nobody else is let in before.
    session.dropQuestions();
    session.givenUp(core.now + core.settings.tick().toNanos());
    listener.onBoundLost(session);
    closeEmpty(session);
    openIfNoneIsLeft();
  }

  /** Erases the record of a lease: where its session is given up, not before its holders know. */
  public void erase(Lease lease) {
    Effect effect = new StoreEffect.EraseLease(lease.session(), lease.id());
    long from = find(lease.session()).map(s -> s.emptiedFromNanos(core.now)).orElse(core.now);
    if (from - core.now > 0) {
      core.timers.at(
          from,
          () -> {
            if (core.leases.get(lease.id()) == lease) {
              core.emit(effect);
            }
          });
    } else {
      core.emit(effect);
    }
  }

  private void openIfNoneIsLeft() {
    if (!core.draining && sessions.values().stream().noneMatch(LockSession::takesLeases)) {
      open();
    }
  }
}
