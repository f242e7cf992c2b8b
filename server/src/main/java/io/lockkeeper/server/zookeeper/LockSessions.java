package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.SessionKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The lock sessions of this coordinator, opened and adopted. Lives on the store's thread. */
final class LockSessions {

  private final SessionServices services;
  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final Map<SessionKey, StoreSession> sessions = new HashMap<>();
  private final Map<SessionKey, ClaimTaking> takings = new HashMap<>();
  private boolean left;

  /** Takes claims over whatever handle {@code connection} gives at the time. */
  LockSessions(SessionServices services, Supplier<Optional<Handle>> connection) {
    this.services = services;
    context = services.context();
    this.connection = connection;
  }

  /** Opens a session, unless this coordinator has left. */
  void open(SessionKey key) {
    sessions.values().removeIf(StoreSession::hasEnded);
    if (!left) {
      sessions.computeIfAbsent(key, k -> new StoreSession(k, services, Optional.empty()));
    }
  }

  /** Adopts a session, if {@code peers} still take it for an orphan. */
  void adopt(SessionKey key, String claimName, Peers peers) {
    sessions.values().removeIf(StoreSession::hasEnded);
    if (left || ours().contains(claimName) || !StorePaths.isClaimName(claimName)) {
      context.events().accept(new SessionEnded(key, true));
      return;
    }
    ClaimTaking taking =
        new ClaimTaking(
            context, connection, claimName, peers::isOrphan, new Outcome(key, claimName, peers));
    takings.put(key, taking);
    taking.start();
  }

  private final class Outcome implements ClaimTaking.Listener {
    private final SessionKey key;
    private final String claimName;
    private final Peers peers;

    Outcome(SessionKey key, String claimName, Peers peers) {
      this.key = key;
      this.claimName = claimName;
      this.peers = peers;
    }

    @Override
    public void onTaken(Taken taken) {
      over();
      sessions.put(key, new StoreSession(key, services, Optional.of(taken)));
    }

    @Override
    public void onLost() {
      over();
      context.stats().add(StoreStats.Count.ADOPTIONS_LOST, 1);
      context.events().accept(new SessionEnded(key, true));
    }

    @Override
    public void onGone() {
      over();
      context.events().accept(new SessionEnded(key, false));
    }

    private void over() {
      takings.remove(key);
      peers.onTaken(claimName);
    }
  }

  /** Returns a session that has not ended: one that has, has answered everything by that. */
  Optional<StoreSession> find(SessionKey key) {
    return Optional.ofNullable(sessions.get(key)).filter(session -> !session.hasEnded());
  }

  /** Returns the names of the claims that are ours, or about to be ours or to go. */
  Set<String> ours() {
    Set<String> names = new HashSet<>(services.claims().owed());
    takings.values().forEach(taking -> names.add(taking.name()));
    sessions.values().stream()
        .filter(session -> !session.hasEnded())
        .forEach(session -> session.claimName().ifPresent(names::add));
    return names;
  }

  /** Returns how many adoptions are under way. */
  int adoptions() {
    return takings.size() + (int) sessions.values().stream().filter(s -> s.isBeginning()).count();
  }

  /** Closes empty sessions, leaves the others to whoever adopts them, and takes no new ones. */
  void leave() {
    left = true;
    Set<SessionKey> given = Set.copyOf(takings.keySet());
    cancelTakings();
    given.forEach(key -> context.events().accept(new SessionEnded(key, true)));
    List.copyOf(sessions.values()).forEach(session -> session.leave(() -> {}));
  }

  /** As {@link #leave}, and tells the coordinator nothing of it; then runs {@code down}. */
  void shutDown(Runnable down) {
    left = true;
    cancelTakings();
    List<StoreSession> all = new ArrayList<>(sessions.values());
    sessions.clear();
    Countdown countdown = new Countdown(all.size(), down);
    all.forEach(session -> session.shutDown(countdown::one));
  }

  private void cancelTakings() {
    takings.values().forEach(ClaimTaking::cancel);
    takings.clear();
  }
}
