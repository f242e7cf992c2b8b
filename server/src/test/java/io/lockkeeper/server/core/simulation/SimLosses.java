package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Nobody loses anything because a coordinator dies, and nobody is told so. */
final class SimLosses {

  /** For how long clients are waited for to whom something is under way. */
  static final Duration QUIET = Duration.ofSeconds(8);

  private static final int QUIET_LOOKS = 400;

  private static final long READ_NANOS = Duration.ofSeconds(3).toNanos();

  private final Sim sim;
  private final Map<String, SessionEvent.SessionAdopted> adoptions = new HashMap<>();
  private final Map<String, Long> safeUntil = new HashMap<>();

  /** Until when each lease may live at each coordinator if its client does not come. */
  private final Map<String, Long> livesUntil = new HashMap<>();

  private final Set<LockName> forced = new HashSet<>();
  private final Map<LockName, Long> opened = new HashMap<>();
  private final Set<String> visited = new HashSet<>();
  private final Set<String> givenBack = new HashSet<>();
  private final Set<LeaseId> closed = new HashSet<>();
  private final Map<LeaseId, SimClient> clients = new HashMap<>();

  /** What others removed. A creation in doubt may be done again under the same name after that. */
  private final Set<String> removedNames = new HashSet<>();

  /**
   * Endings that were true when they were told first. They are told again to a client that comes
   * back, which may have been given the same elsewhere meanwhile.
   */
  private final Set<Notice> toldBefore = Collections.newSetFromMap(new IdentityHashMap<>());

  SimLosses(Sim sim) {
    this.sim = sim;
  }

  /** Somebody has begun. */
  void onClient(SimClient client) {
    clients.put(client.lease, client);
  }

  /** An entry is created: not of a request whose client was told that it has ended. */
  void onCreated(String requestId) {
    SimRequest request = sim.requests.get(requestId);
    SimRules.check(
        !request.gone
            || request.askedByTwin
            // It was on its way since before a takeover, after which no ending is remembered.
            || request.goneIn < sim.claims.epochOf(request.lease),
        () -> "queued when its client was told that it has ended: " + request);
  }

  /** Somebody with other tools has deleted an entry. */
  void onRemoved(SimNode node) {
    removedNames.add(node.name.text());
  }

  void beforeStep(SimCoordinator coordinator, Event event) {
    if (event instanceof ClientEvent.OpenLease open) {
      livesUntil.merge(place(coordinator, open.lease()), sim.now + open.ttl().toNanos(), Math::max);
      renew(coordinator, open.lease(), open.ttl().toNanos());
    } else if (event instanceof TimeEvent.Stalled stalled) {
      livesUntil.replaceAll(
          (place, until) -> place.startsWith(coordinator + "/") ? until + stalled.nanos() : until);
    } else if (event instanceof ClientEvent.KeepAlive keepAlive) {
      visit(coordinator, keepAlive.lease());
    } else if (event instanceof ClientEvent.AttachLease attach
        && attach.secretHash().equals(SimClient.SECRET)) {
      visit(coordinator, attach.lease());
    } else if (event instanceof ClientEvent.Acquire acquire) {
      visited.add(place(coordinator, acquire.lease()));
    } else if (event instanceof ClientEvent.Release release) {
      visited.add(place(coordinator, release.lease()));
      if (release.token() == 0) {
        givenBack.add(release.requestId());
      }
    } else if (event instanceof ClientEvent.CloseLease close) {
      visited.add(place(coordinator, close.lease()));
      closed.add(close.lease());
    } else if (event instanceof ClientEvent.ForceRelease force) {
      forced.add(force.lock());
      if (force.token() == 0) {
        opened.put(force.lock(), sim.now);
      }
    } else if (event instanceof SessionEvent.SessionAdopted adopted) {
      adoptions.put(coordinator + "/" + adopted.session(), adopted);
      adopted
          .entries()
          .forEach(e -> visited.remove(coordinator + "/" + e.read().details().leaseId()));
      for (SessionEvent.AdoptedLease lease : adopted.leases()) {
        long end = graceEnd(adopted, Optional.of(lease.lease()));
        safeUntil.put(place(coordinator, lease.lease()), end);
        livesUntil.put(place(coordinator, lease.lease()), livesUntil(adopted, lease, end));
        visited.remove(place(coordinator, lease.lease()));
      }
    }
  }

  /**
   * Returns whether an operator may have ended a lock delay that began then. The holders are read
   * first, which takes some seconds at most.
   */
  boolean mayHaveEnded(LockName lock, long beganAt) {
    return opened.containsKey(lock) && opened.get(lock) + READ_NANOS >= beganAt;
  }

  private static long graceEnd(SessionEvent.SessionAdopted adopted, Optional<LeaseId> lease) {
    long promised = lease.flatMap(adopted::promisedNanos).orElse(adopted.timeoutNanos());
    return adopted.takenAtNanos()
        + (adopted.certain() ? 0 : Math.min(adopted.timeoutNanos(), promised));
  }

  /** Returns until when a lease lives whose client does not come. */
  private long livesUntil(
      SessionEvent.SessionAdopted adopted, SessionEvent.AdoptedLease lease, long graceEnd) {
    return sim.claims
        .leftWith(lease.lease())
        .map(promised -> adopted.takenAtNanos() + promised.toNanos())
        .orElseGet(() -> Math.max(graceEnd, sim.now + lease.ttlMillis() * Sim.MILLI));
  }

  /** A coordinator leaves: what it says is left of a lease is what its client counts on. */
  void onPromises(SimCoordinator coordinator, Promises promises) {
    promises
        .leases()
        .forEach(
            (tag, left) -> {
              Lease lease =
                  coordinator.kernel.core.leasesByTag.get(Long.parseUnsignedLong(tag, 16));
              LeaseId id = lease.id();
              if (!lease.isEnding() && !lease.isStream()) {
                long until = sim.now + left.toNanos();
                long safe = safeUntil.getOrDefault(place(coordinator, id), 0L);
                SimRules.check(
                    left.isZero() || until >= safe,
                    () -> "promised less than was told: " + lease.id().tag());
                checkLife(coordinator, id, left.isZero() ? 0 : until);
              }
            });
  }

  void afterStep(SimCoordinator coordinator, Event event) {
    if (event instanceof SessionEvent.SessionAdopted adopted) {
      adopted.leases().stream()
          .flatMap(
              record ->
                  Optional.ofNullable(coordinator.kernel.core.leases.get(record.lease())).stream())
          .filter(lease -> sim.claims.ownerOf(lease.id()).equals(Optional.of(coordinator)))
          .forEach(lease -> checkLife(coordinator, lease.id(), lease.deadlineNanos()));
    }
  }

  /** However often coordinators leave, a lease lives no longer than its client was promised. */
  private void checkLife(SimCoordinator coordinator, LeaseId lease, long until) {
    SimRules.check(
        until <= livesUntil.getOrDefault(place(coordinator, lease), Long.MAX_VALUE),
        () -> "lives longer than its client was promised: " + lease.tag() + " at " + coordinator);
  }

  private static String place(SimCoordinator coordinator, LeaseId lease) {
    return coordinator + "/" + lease;
  }

  private void visit(SimCoordinator coordinator, LeaseId id) {
    if (coordinator.kernel.core.leaving) {
      return;
    }
    Optional.ofNullable(coordinator.kernel.core.leases.get(id))
        .ifPresent(
            lease ->
                livesUntil.merge(place(coordinator, id), sim.now + lease.ttlNanos(), Math::max));
    Optional.ofNullable(coordinator.kernel.core.leases.get(id))
        .filter(lease -> lease.state() == Lease.State.OPEN && lease.deadlineNanos() > sim.now)
        .ifPresent(lease -> renew(coordinator, id, lease.ttlNanos()));
  }

  private void renew(SimCoordinator coordinator, LeaseId lease, long ttlNanos) {
    visited.add(place(coordinator, lease));
    safeUntil.merge(place(coordinator, lease), sim.now + ttlNanos, Math::max);
  }

  /**
   * Returns whether a client has given a request back, to whichever coordinator: it does not use it
   * any more, and whoever comes next need not wait, whatever the coordinator took it for.
   */
  boolean isGivenBack(String requestId) {
    return givenBack.contains(requestId);
  }

  /** Returns whether a lease's client has closed it, wherever that was. */
  boolean isClosed(LeaseId lease) {
    return closed.contains(lease);
  }

  /** A lease ends: not while its client keeps it, unless ZooKeeper was out of reach for long. */
  void onErase(SimCoordinator coordinator, StoreEffect.EraseLease effect) {
    LeaseId lease = effect.lease();
    var ended = coordinator.kernel.core.endedLeases.get(lease);
    boolean told = ended != null && ended.end() == LeaseEnd.SESSION_LOST;
    boolean wanted = clients.get(lease).hasLease() && !told;
    long until = safeUntil.getOrDefault(place(coordinator, lease), Long.MIN_VALUE);
    SimRules.check(
        !wanted || sim.now >= until || isBoundLost(coordinator, effect.session()),
        () -> coordinator + " ends lease " + lease.tag() + " that its client keeps");
  }

  /** A client is told that its lease has ended. */
  void onLeaseEnd(SimCoordinator coordinator, SimClient client, LeaseEnd end) {
    if (end == LeaseEnd.SESSION_LOST) {
      sim.claims.sessionOf(client.lease).ifPresent(s -> checkSessionLost(coordinator, s, client));
    }
  }

  /** What was adopted stays until its client has come, or nobody can rely on it any more. */
  void onDelete(SimCoordinator coordinator, StoreEffect.DeleteEntries effect) {
    SessionEvent.SessionAdopted adopted = adoptions.get(coordinator + "/" + effect.session());
    if (adopted == null || isBoundLost(coordinator, effect.session())) {
      return;
    }
    List<SimNode> nodes =
        effect.entries().stream()
            .flatMap(ref -> sim.zooKeeper.find(ref.lock(), ref.entry()).stream())
            .filter(node -> sim.now < graceEnd(adopted, node))
            .toList();
    // Whoever has to give one lock has to give all of its request.
    nodes.stream().filter(node -> forced.contains(node.lock)).forEach(this::dispossess);
    nodes.forEach(node -> checkAbandoned(coordinator, adopted, node));
  }

  private static long graceEnd(SessionEvent.SessionAdopted adopted, SimNode node) {
    long end = graceEnd(adopted, LeaseId.parse(node.details.leaseId()));
    return adopted
        .promises()
        .flatMap(
            promises ->
                node.name.id().map(id -> promises.waiters().getOrDefault(id, Duration.ZERO)))
        .filter(left -> !left.isZero())
        .map(left -> Math.min(end, adopted.takenAtNanos() + left.toNanos()))
        .orElse(end);
  }

  /** Whoever shares the entry gives it, too. */
  private void dispossess(SimNode node) {
    sim.holds.dispossess(node.details.requestId());
    node.users.forEach(user -> sim.holds.dispossess(user.request()));
  }

  private void checkAbandoned(
      SimCoordinator coordinator, SessionEvent.SessionAdopted adopted, SimNode node) {
    SimRules.check(
        isWanted(coordinator, adopted, node)
            || (adopted.certain() && node.details.streamBound())
            || isLeftover(node)
            || sim.holds.isDispossessed(node.details.requestId())
            || sim.zooKeeper.hasLostSibling(node),
        () -> coordinator + " deletes " + node + " whose client has not given it back");
  }

  /**
   * Returns whether whoever is here may end it: what is asked for anew has its ordinary clocks; of
   * what was adopted only its client has a say, that has given it back or ended the lease. That it
   * was here says nothing: it may go back to where it was.
   */
  private boolean isWanted(
      SimCoordinator coordinator, SessionEvent.SessionAdopted adopted, SimNode node) {
    boolean anew =
        node.details.streamBound()
            || adopted.entries().stream()
                .noneMatch(entry -> entry.name().text().equals(node.name.text()));
    return visited.contains(coordinator + "/" + node.details.leaseId())
        && (anew
            || isGivenBack(node.details.requestId())
            || LeaseId.parse(node.details.leaseId()).filter(closed::contains).isPresent());
  }

  /** The lease had ended already where it was served before. */
  private boolean isLeftover(SimNode node) {
    return !node.details.streamBound()
        && LeaseId.parse(node.details.leaseId()).filter(sim.zooKeeper::hasLease).isEmpty();
  }

  private boolean isBoundLost(SimCoordinator coordinator, SessionKey session) {
    SimConnection connection = coordinator.on(session);
    return !connection.session().alive || connection.isBoundLost();
  }

  /** A client is told that its acquisition is over. */
  void onEnding(SimCoordinator coordinator, Effect.Tell tell) {
    boolean session =
        (tell.notice() instanceof Notice.Lost lost
                && lost.reason() == Notice.LossReason.SESSION_LOST)
            || (tell.notice() instanceof Notice.NotAcquired not
                && not.reason() == Notice.RefusalReason.SESSION_LOST);
    boolean removed =
        tell.notice() instanceof Notice.Lost lost && lost.reason() == Notice.LossReason.REMOVED;
    SimRequest request = sim.requests.get(tell.requestId());
    if (session && request.command.lease().isPresent()) {
      sim.zooKeeper
          .ofRequest(request)
          .ifPresent(node -> checkSessionLost(coordinator, node.owner, tell));
    } else if (removed
        && !request.tokens.isEmpty()
        && !request.left
        && !isForced(request)
        // What whoever it has left tells late does not reach it.
        && Optional.ofNullable(clients.get(request.lease))
            .filter(client -> client.isAt(coordinator))
            .isPresent()
        && toldBefore.add(tell.notice())) {
      SimRules.check(
          !hasAll(coordinator, request),
          () -> "told that it is removed, and it is not: " + request);
    }
  }

  /** What was taken away by force goes a little later than its client is told. */
  private boolean isForced(SimRequest request) {
    return request.command.locks().stream().anyMatch(wanted -> forced.contains(wanted.name()));
  }

  /**
   * Returns whether all entries are there of which a coordinator tells that they were removed;
   * where it knew none, whether there are any for what the client holds.
   */
  private boolean hasAll(SimCoordinator coordinator, SimRequest request) {
    return coordinator.lives.values().stream()
        .filter(life -> life.request().equals(request.id))
        .filter(life -> life.acquisition.holds().size() == request.command.locks().size())
        .findFirst()
        .map(life -> life.acquisition.holds().stream().allMatch(this::isUntouched))
        .orElseGet(() -> sim.zooKeeper.hasAll(request));
  }

  private boolean isUntouched(Hold hold) {
    return sim.holds.isThere(hold) && !removedNames.contains(hold.name().text());
  }

  /**
   * A client hears an ending: not that it was never granted what it holds, and not before its
   * entries are gone, unless nobody can restore the request.
   */
  void onHeard(SimClient client, SimRequest request, Effect.Tell tell) {
    Notice notice = tell.notice();
    if (notice instanceof Notice.NotAcquired not) {
      boolean taken =
          switch (not.reason()) {
            case REMOVED, LEASE_ENDED, SESSION_LOST -> true;
            case TIMED_OUT, QUEUE_FULL, WITHDRAWN, WOULD_DEADLOCK, LIMIT_TOO_SMALL -> false;
          };
      SimRules.check(
          taken || client.byStream || !client.believes(request),
          () -> "a holder is told that it was not granted: " + request + " " + notice);
      request.gone = !taken;
      request.goneIn = tell.epoch();
    }
    if (request.gone || notice instanceof Notice.Released) {
      checkGone(request, notice);
    }
  }

  /** A client is told that nothing of a request is left. */
  void checkGone(SimRequest request, Object told) {
    SimRules.check(
        request.askedByTwin || sim.zooKeeper.ofRequest(request).isEmpty(),
        () -> "told that it has ended, and its entry is there: " + request + " " + told);
  }

  private void checkSessionLost(SimCoordinator coordinator, SimSession session, Object what) {
    boolean excused =
        coordinator.connections.entrySet().stream()
            .filter(entry -> entry.getValue().session() == session)
            .anyMatch(entry -> isBoundLost(coordinator, entry.getKey()));
    SimRules.check(excused || !session.alive, () -> "told to be lost, and it is not: " + what);
  }

  /**
   * Nothing has gone wrong for a while: what clients think of theirs is what coordinators think, as
   * soon as nothing is under way between them.
   */
  void onQuiet() {
    List.copyOf(clients.values()).forEach(client -> compareSoon(client, QUIET_LOOKS));
  }

  private void compareSoon(SimClient client, int looks) {
    if (client.hasLease() && (looks == 0 || client.isIdle())) {
      Optional<Lease> lease =
          sim.claims.ownerOf(client.lease).map(owner -> owner.kernel.core.leases.get(client.lease));
      SimRules.check(lease.isPresent(), () -> "nobody serves " + client);
      client.requests().forEach(request -> compare(client, request, lease.orElseThrow()));
    } else if (client.hasLease()) {
      sim.after(QUIET.toNanos() / QUIET_LOOKS, () -> compareSoon(client, looks - 1));
    }
  }

  private void compare(SimClient client, SimRequest request, Lease lease) {
    Optional<Acquisition> acquisition = Optional.ofNullable(lease.acquisitions().get(request.id));
    boolean held = acquisition.filter(t -> t.state().isHeld()).isPresent();
    boolean waits = acquisition.filter(t -> t.state().isWaiting()).isPresent();
    if (!request.isLive()) {
      SimRules.check(
          !(held || waits) || !(request.over || request.released) || request.askedByTwin,
          () -> client + " has given back what is kept for it: " + request);
    } else if (!request.deaf) {
      SimRules.check(
          held == client.believes(request)
              // The answer to its last keep-alive may be on its way.
              || (held && request.believes)
              || sim.holds.isDispossessed(request.id),
          () -> client + (held ? " does not know that it holds " : " has not ") + request);
      SimRules.check(held || waits, () -> "nobody knows of " + request + " of " + client);
    }
  }
}
