package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.Countdown;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import io.lockkeeper.server.zookeeper.member.Members;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The lock sessions of this coordinator, opened and adopted. Lives on the store's thread. */
public final class SessionConnections {

  private final SessionContext services;
  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final Map<SessionKey, SessionConnection> sessions = new HashMap<>();
  private final Map<SessionKey, ClaimAdoption> takings = new HashMap<>();
  private boolean left;

  /** Takes claims over whatever handle {@code connection} gives at the time. */
  public SessionConnections(SessionContext services, Supplier<Optional<Handle>> connection) {
    this.services = services;
    context = services.context();
    this.connection = connection;
  }

  /** Opens a session, unless this coordinator has left. */
  public void open(SessionKey key) {
    sessions.values().removeIf(SessionConnection::hasEnded);
    if (!left) {
      sessions.computeIfAbsent(key, k -> new SessionConnection(k, services, Optional.empty()));
    }
  }

  /** Adopts a session, if {@code peers} still take it for an orphan. */
  public void adopt(SessionKey key, String claimName, Members members) {
    sessions.values().removeIf(SessionConnection::hasEnded);
    if (left || ours().contains(claimName) || !StorePaths.isClaimName(claimName)) {
      context.events().accept(new SessionEnded(key, true));
      return;
    }
    ClaimAdoption taking =
        new ClaimAdoption(
            context,
            connection,
            claimName,
            members::isOrphan,
            new AdoptionOutcome(key, claimName, members));
    takings.put(key, taking);
    taking.start();
  }

  private final class AdoptionOutcome implements ClaimAdoption.AdoptionListener {
    private final SessionKey key;
    private final String claimName;
    private final Members members;

    AdoptionOutcome(SessionKey key, String claimName, Members members) {
      this.key = key;
      this.claimName = claimName;
      this.members = members;
    }

    @Override
    public void onTaken(AdoptedClaim adoptedClaim) {
      over();
      sessions.put(key, new SessionConnection(key, services, Optional.of(adoptedClaim)));
    }

    @Override
    public void onLost() {
      over();
      context.stats().add(StoreStats.StoreCount.ADOPTIONS_LOST, 1);
      context.events().accept(new SessionEnded(key, true));
    }

    @Override
    public void onGone() {
      over();
      context.events().accept(new SessionEnded(key, false));
    }

    private void over() {
      takings.remove(key);
      members.onTaken(claimName);
    }
  }

  /** Returns a session that has not ended: one that has, has answered everything by that. */
  public Optional<SessionConnection> find(SessionKey key) {
    return Optional.ofNullable(sessions.get(key)).filter(session -> !session.hasEnded());
  }

  /** Returns the names of the claims that are ours, or about to be ours or to go, or left alone. */
  public Set<String> ours() {
    Set<String> names = new HashSet<>(services.claims().owed());
    names.addAll(services.left().at(System.nanoTime()));
    takings.values().forEach(taking -> names.add(taking.name()));
    sessions.values().stream()
        .filter(session -> !session.hasEnded())
        .forEach(session -> session.claimName().ifPresent(names::add));
    return names;
  }

  /** Returns the sessions that are ours now, by the names of their claims. */
  public Map<String, SessionKey> claims() {
    Map<String, SessionKey> claims = new HashMap<>();
    sessions.forEach(
        (key, session) ->
            session
                .claimName()
                .filter(name -> !session.hasEnded())
                .ifPresent(name -> claims.put(name, key)));
    return claims;
  }

  /** Returns how many adoptions are under way. */
  public int adoptions() {
    return takings.size() + (int) sessions.values().stream().filter(s -> s.isBeginning()).count();
  }

  /**
   * Closes empty sessions, leaves the others to whoever adopts them, and takes no new ones. Then
   * runs {@code gone}, in a second at the latest.
   */
  public void leave(Runnable gone) {
    left = true;
    Set<SessionKey> given = Set.copyOf(takings.keySet());
    cancelTakings();
    given.forEach(key -> context.events().accept(new SessionEnded(key, true)));
    List<SessionConnection> all = List.copyOf(sessions.values());
    Countdown countdown = new Countdown(all.size(), gone);
    all.forEach(session -> session.leave(countdown::one));
  }

  /** As {@link #leave}, and tells the coordinator nothing of it; then runs {@code down}. */
  public void shutDown(Runnable down) {
    left = true;
    cancelTakings();
    List<SessionConnection> all = new ArrayList<>(sessions.values());
    sessions.clear();
    Countdown countdown = new Countdown(all.size(), down);
    all.forEach(session -> session.shutDown(countdown::one));
  }

  private void cancelTakings() {
    takings.values().forEach(ClaimAdoption::cancel);
    takings.clear();
  }
}
