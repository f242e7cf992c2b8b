package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.lock.LeaseId;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The claim records: whose each lock session is, and since how many changes of hands. */
final class SimClaims {

  /** One claim record; its version is the epoch. */
  static final class Claim {
    final String name;
    final SimSession session;
    SimCoordinator owner;
    int version;

    /** Whether all who owned the session before its owner are dead for certain. */
    boolean alone = true;

    /** What its owner has promised, if it has left in good order. */
    Optional<Promises> promises = Optional.empty();

    /** What the one before its owner had promised. */
    Optional<Promises> left = Optional.empty();

    private Claim(String name, SimSession session, SimCoordinator owner) {
      this.name = name;
      this.session = session;
      this.owner = owner;
    }

    @Override
    public String toString() {
      return name + " of " + owner + " with " + session.nodes + session.leases.keySet();
    }
  }

  private final Map<String, Claim> claims = new LinkedHashMap<>();
  private int names;

  /** How often a session changed hands. */
  int taken;

  Claim make(SimSession session, SimCoordinator owner) {
    Claim claim = new Claim("claim-" + ++names, session, owner);
    claims.put(claim.name, claim);
    return claim;
  }

  /** Takes a claim that has not changed since it was read. */
  boolean take(Claim claim, int version, SimCoordinator taker) {
    boolean free = claims.containsKey(claim.name) && claim.version == version;
    if (free) {
      claim.version++;
      claim.left = claim.promises;
      claim.promises = Optional.empty();
      claim.alone &= taker.peers.isPredecessor(claim.owner);
      claim.owner = taker;
      taken++;
    }
    return free;
  }

  void remove(Claim claim) {
    claims.remove(claim.name);
  }

  Optional<Claim> find(String name) {
    return Optional.ofNullable(claims.get(name));
  }

  Optional<Claim> of(SimSession session) {
    return claims.values().stream().filter(claim -> claim.session == session).findFirst();
  }

  private Optional<Claim> of(LeaseId lease) {
    return claims.values().stream()
        .filter(claim -> claim.session.alive && claim.session.leases.containsKey(lease))
        .findFirst();
  }

  /** Returns whose a lease is, by its record. */
  Optional<SimCoordinator> ownerOf(LeaseId lease) {
    return of(lease).map(claim -> claim.owner);
  }

  /** Returns the epoch of a lease's session, zero if the lease has no record. */
  long epochOf(LeaseId lease) {
    return of(lease).map(claim -> claim.version + 1L).orElse(0L);
  }

  /** Returns what is left of a lease, as the coordinator before its owner's has recorded. */
  Optional<Duration> leftWith(LeaseId lease) {
    return of(lease)
        .flatMap(claim -> claim.left)
        .flatMap(promises -> Optional.ofNullable(promises.leases().get(lease.tag())));
  }

  /** Returns on which session a lease is, by its record. */
  Optional<SimSession> sessionOf(LeaseId lease) {
    return of(lease).map(claim -> claim.session);
  }

  Collection<Claim> all() {
    return List.copyOf(claims.values());
  }
}
