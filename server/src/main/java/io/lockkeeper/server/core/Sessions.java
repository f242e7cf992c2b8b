package io.lockkeeper.server.core;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The pool of lock sessions. Each owns a bounded number of path bytes; new ones open as the old
 * fill, empty ones close. A lease lives on one session with all its entries.
 */
final class Sessions {

  /** How many proofs there are in one session timeout; two that stay unanswered are jeopardy. */
  private static final int PROOFS_PER_TIMEOUT = 6;

  private final World world;
  private final Map<SessionKey, LockSession> sessions = new LinkedHashMap<>();
  private Listener listener = new NoListener();
  private int keys;

  /** What the pool tells the rest of the core. */
  interface Listener {
    /** Holders on the session are in jeopardy. */
    void onSuspended(LockSession session);

    /**
     * The session was proved alive; {@code wasSuspended} says whether holders had been told
     * jeopardy.
     */
    void onProved(LockSession session, boolean wasSuspended);

    /** The session could not be proved alive within its bound. */
    void onBoundLost(LockSession session);

    /** The session has ended. */
    void onGone(LockSession session);
  }

  private static final class NoListener implements Listener {
    @Override
    public void onSuspended(LockSession session) {}

    @Override
    public void onProved(LockSession session, boolean wasSuspended) {}

    @Override
    public void onBoundLost(LockSession session) {}

    @Override
    public void onGone(LockSession session) {}
  }

  Sessions(World world) {
    this.world = world;
  }

  void listen(Listener value) {
    listener = value;
  }

  Collection<LockSession> all() {
    return sessions.values();
  }

  Optional<LockSession> find(SessionKey key) {
    return Optional.ofNullable(sessions.get(key));
  }

  /** Returns whether some session is open and sure, so that new work can be taken. */
  boolean anySure() {
    return sessions.values().stream().anyMatch(LockSession::isSure);
  }

  /**
   * Returns a session for a new lease and opens the next one in time, or empty if the pool is as
   * large as it may be.
   */
  Optional<LockSession> forNewLease() {
    long half = world.settings.maxSessionPathBytes() / 2;
    List<LockSession> roomy = withRoom(half);
    if (roomy.isEmpty()) {
      return open();
    }
    LockSession chosen =
        roomy.stream().filter(LockSession::isSure).findFirst().orElseGet(() -> roomy.get(0));
    if (roomy.size() == 1 && chosen.pathBytes() > half * 3 / 4) {
      open();
    }
    return Optional.of(chosen);
  }

  private List<LockSession> withRoom(long limit) {
    return sessions.values().stream()
        .filter(s -> s.state() != LockSession.State.CLOSING && s.pathBytes() < limit)
        .toList();
  }

  /** Opens one more session, unless there are as many as may be. */
  Optional<LockSession> open() {
    if (sessions.size() >= world.settings.maxSessions()) {
      return Optional.empty();
    }
    LockSession session = new LockSession(new SessionKey(++keys));
    sessions.put(session.key(), session);
    world.emit(new Effect.OpenSession(session.key()));
    return Optional.of(session);
  }

  /** Closes a session that owns nothing, if another one is open. */
  void closeEmpty(LockSession candidate) {
    boolean spare =
        withRoom(world.settings.maxSessionPathBytes() / 2).stream()
            .anyMatch(other -> other != candidate && other.state() == LockSession.State.OPEN);
    if (candidate.leases().isEmpty()
        && candidate.pathBytes() == 0
        && candidate.state() == LockSession.State.OPEN
        && spare) {
      close(candidate);
    }
  }

  private void close(LockSession session) {
    session.closing();
    world.emit(new Effect.CloseSession(session.key()));
  }

  /** Returns how long the session is known to live from now on, zero if it is not. */
  long boundLeftNanos(LockSession session) {
    if (session.state() != LockSession.State.OPEN) {
      return 0;
    }
    return Math.max(0, session.boundNanos(world.settings.tick().toNanos()) - world.now);
  }

  void onOpened(SessionEvent.SessionOpened event) {
    find(event.session())
        .filter(session -> session.state() == LockSession.State.OPENING)
        .ifPresent(
            session -> {
              session.opened(event.timeoutNanos(), event.provenAtNanos());
              armProof(session);
              armBound(session);
              listener.onProved(session, false);
            });
  }

  void onOrphan(SessionEvent.OrphanFound event) {
    LockSession session = new LockSession(new SessionKey(++keys));
    sessions.put(session.key(), session);
    world.emit(new Effect.AdoptSession(session.key(), event.claim()));
  }

  void onAdopted(SessionEvent.SessionAdopted event) {
    onOpened(
        new SessionEvent.SessionOpened(
            event.session(), event.timeoutNanos(), event.provenAtNanos()));
  }

  void onProved(SessionEvent.SessionProved event) {
    find(event.session())
        .filter(session -> session.state() == LockSession.State.OPEN)
        .ifPresent(
            session -> {
              boolean wasUnsure = session.isUnsure();
              boolean wasSuspended = session.isSuspended();
              session.proved(event.sentAtNanos());
              if (wasUnsure && !session.isUnsure()) {
                session.suspended(false);
                listener.onProved(session, wasSuspended);
              } else if (session.isUnsure()) {
                // The proof was sent before the doubt arose: ask for one that is sent from now on.
                world.emit(new Effect.ProveSession(session.key()));
              }
            });
  }

  void onSuspended(SessionEvent.SessionSuspended event) {
    find(event.session()).ifPresent(this::suspend);
  }

  private void suspend(LockSession session) {
    session.doubt(world.now);
    if (session.state() == LockSession.State.OPEN && !session.isSuspended()) {
      session.suspended(true);
      listener.onSuspended(session);
    }
  }

  void onEnded(SessionEvent.SessionEnded event) {
    Optional.ofNullable(sessions.remove(event.session()))
        .ifPresent(
            session -> {
              session.closing();
              listener.onGone(session);
              openIfNoneIsLeft();
            });
  }

  /** After a pause of this process nothing is certain until it has been proved again. */
  void onStalled() {
    for (LockSession session : sessions.values()) {
      if (session.state() == LockSession.State.OPEN) {
        session.doubt(world.now);
        world.emit(new Effect.ProveSession(session.key()));
      }
    }
  }

  private void armProof(LockSession session) {
    world.timers.at(
        world.now + session.timeoutNanos() / PROOFS_PER_TIMEOUT, () -> proofDue(session));
  }

  private void proofDue(LockSession session) {
    if (session.state() != LockSession.State.OPEN) {
      return;
    }
    long age = world.now - session.provenAtNanos();
    if (age >= session.timeoutNanos() / PROOFS_PER_TIMEOUT * 2 && !session.isSuspended()) {
      suspend(session);
    }
    if (age >= session.timeoutNanos() / PROOFS_PER_TIMEOUT / 2) {
      world.emit(new Effect.ProveSession(session.key()));
    }
    armProof(session);
  }

  private void armBound(LockSession session) {
    world.timers.at(session.boundNanos(world.settings.tick().toNanos()), () -> boundDue(session));
  }

  private void boundDue(LockSession session) {
    if (session.state() != LockSession.State.OPEN) {
      return;
    }
    if (boundLeftNanos(session) > 0) {
      armBound(session);
      return;
    }
    close(session);
    listener.onBoundLost(session);
    openIfNoneIsLeft();
  }

  private void openIfNoneIsLeft() {
    if (sessions.values().stream().allMatch(s -> s.state() == LockSession.State.CLOSING)) {
      open();
    }
  }
}
