package io.lockkeeper.server.core;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;

/** What must be true at every moment of a run, and what must be left at its end: nothing. */
final class SimRules {

  /** What is known of one acquisition. */
  private static final class Track {
    final SimCoordinator coordinator;
    long newest;
    long last;
    boolean released;
    boolean over;

    Track(SimCoordinator coordinator) {
      this.coordinator = coordinator;
    }
  }

  private final Sim sim;
  private final Map<String, Track> tracks = new LinkedHashMap<>();
  private final Set<String> unheard = new HashSet<>();
  private final Map<UUID, String> requestIds = new HashMap<>();
  private final Map<CallId, SimCoordinator> calls = new LinkedHashMap<>();
  private final Set<CallId> answered = new HashSet<>();
  private final Map<LockName, Long> tokens = new HashMap<>();
  private final Map<UUID, Acquisition.State> states = new HashMap<>();

  /** Which states followed which. */
  final Set<String> moves = new TreeSet<>();

  /** How many grants there were. */
  int grants;

  SimRules(Sim sim) {
    this.sim = sim;
  }

  void beforeStep(SimCoordinator coordinator, Event event) {
    if (event instanceof ClientEvent.Acquire acquire) {
      String requestId = acquire.command().requestId();
      tracks.computeIfAbsent(requestId, id -> new Track(coordinator));
      requestIds.put(acquire.id(), requestId);
    }
  }

  /** A message arrives: what it asks must be answered. */
  void expectAnswers(ClientEvent event, SimCoordinator coordinator) {
    callOf(event).ifPresent(call -> calls.put(call, coordinator));
  }

  private static Optional<CallId> callOf(ClientEvent event) {
    if (event instanceof ClientEvent.OpenLease open) {
      return Optional.of(open.call());
    } else if (event instanceof ClientEvent.AttachLease attach) {
      return Optional.of(attach.call());
    } else if (event instanceof ClientEvent.KeepAlive keepAlive) {
      return Optional.of(keepAlive.call());
    } else if (event instanceof ClientEvent.CloseLease close) {
      return Optional.of(close.call());
    } else if (event instanceof ClientEvent.Release release) {
      return Optional.of(release.call());
    } else if (event instanceof ClientEvent.QueryPosition query) {
      return Optional.of(query.call());
    } else if (event instanceof ClientEvent.CheckToken check) {
      return Optional.of(check.call());
    }
    return Optional.empty();
  }

  /** The acquisition may be told things when nobody listens. */
  void allowGaps(String requestId) {
    unheard.add(requestId);
  }

  /** Looks at what every coordinator believes. */
  void afterStep() {
    Map<LockName, Ticket> holders = new HashMap<>();
    Set<UUID> alive = new HashSet<>();
    for (SimCoordinator coordinator : sim.coordinators) {
      for (Ticket ticket : coordinator.kernel.world.tickets.values()) {
        alive.add(ticket.id());
        move(ticket.id(), ticket.acquisition().state());
        if (ticket.acquisition().state() == Acquisition.State.RELEASING) {
          tracks.get(ticket.command().requestId()).released = true;
        }
        if (ticket.acquisition().isHeld()) {
          Ticket other = holders.put(ticket.command().locks().get(0).name(), ticket);
          check(other == null, () -> "two coordinators believe in two holders of one lock");
        }
      }
    }
    for (UUID id : Set.copyOf(states.keySet())) {
      if (!alive.contains(id)) {
        move(id, Acquisition.State.ENDED);
        states.remove(id);
      }
    }
  }

  private void move(UUID id, Acquisition.State state) {
    Acquisition.State before = states.put(id, state);
    if (before != null && before != state) {
      moves.add(before + " -> " + state);
    }
  }

  void onTell(SimCoordinator coordinator, Effect.Tell tell) {
    Track track = tracks.get(tell.requestId());
    Supplier<String> what = () -> tell.requestId() + ", " + tell.sequence() + ": " + tell.notice();
    check(
        track.last == 0 || tell.sequence() == track.last,
        () -> "something followed the ending: " + what.get());
    check(
        tell.sequence() <= track.newest + 1 || unheard.contains(tell.requestId()),
        () -> "a notice is missing after " + track.newest + ": " + what.get());
    if (tell.notice() instanceof Notice.Granted granted) {
      check(!track.released, () -> "a grant was told after its release: " + what.get());
      if (tell.sequence() > track.newest) {
        onGrant(coordinator, granted.grants().get(0), what);
      }
    }
    track.newest = Math.max(track.newest, tell.sequence());
    if (tell.notice().isFinal()) {
      track.last = tell.sequence();
      track.over = true;
    }
  }

  private void onGrant(SimCoordinator coordinator, Notice.Grant grant, Supplier<String> what) {
    grants++;
    check(coordinator.mirrorIsCurrent, () -> "granted on a stale mirror: " + what.get());
    long token = grant.token().value();
    Long before = tokens.put(grant.lock(), token);
    check(
        before == null || before < token,
        () -> "the token does not rise after " + before + ": " + what.get());
    if (sim.has(Sim.Mutant.TOKEN_FROM_SEQUENCE)) {
      return;
    }
    SimZooKeeper.Node node = sim.zooKeeper.createdBy(grant.token().czxid()).orElseThrow();
    check(node.exists, () -> "granted an entry that is gone: " + what.get());
    for (SimZooKeeper.Node ahead : sim.zooKeeper.ordered(grant.lock())) {
      if (SimZooKeeper.compare(ahead, node) < 0) {
        boolean released =
            ahead
                .name
                .id()
                .map(requestIds::get)
                .map(tracks::get)
                .filter(t -> t.released)
                .isPresent();
        check(released, () -> "granted past " + ahead.name + ": " + what.get());
      }
    }
  }

  void onRefuse(Effect.Refuse refuse) {
    Track track = tracks.get(refuse.requestId());
    check(
        track.newest == 0 || track.over || unheard.contains(refuse.requestId()),
        () -> "refused what has been told of: " + refuse);
    track.over = true;
  }

  void onLeaseEnd(SimClient client) {
    client.requestIds().map(tracks::get).forEach(SimRules::end);
  }

  private static void end(Track track) {
    if (track != null) {
      track.over = true;
    }
  }

  void onReply(Effect.Reply reply) {
    check(calls.containsKey(reply.call()), () -> "nobody asked: " + reply);
    check(answered.add(reply.call()), () -> "answered twice: " + reply);
  }

  /** Somebody begins to use a lock. */
  void onBelief(Object who, LockName lock) {
    for (SimClient client : sim.clients) {
      check(
          client == who ? client.beliefs(lock) <= 1 : client.beliefs(lock) == 0,
          () -> "two clients use " + lock + ": " + who + " and " + client);
    }
    for (SimStranger stranger : sim.strangers) {
      check(stranger == who || !stranger.holds(lock), () -> "a client and a stranger use " + lock);
    }
  }

  /** Everybody has gone, and nothing has been broken for a while. */
  void atRest() {
    check(sim.zooKeeper.entryCount() == 0, () -> "entries are left in ZooKeeper");
    check(sim.zooKeeper.leaseCount() == 0, () -> "lease records are left in ZooKeeper");
    for (SimCoordinator coordinator : sim.coordinators) {
      World world = coordinator.kernel.world;
      CoreCounts counts = coordinator.kernel.counts(sim.now);
      check(counts.mirrorCurrent(), () -> "the mirror is not current");
      check(
          counts.leases() + counts.acquisitions() + counts.locks() + counts.entries() == 0,
          () -> "left over: " + counts);
      check(world.streams.isEmpty(), () -> "streams are left: " + world.streams.keySet());
      check(
          counts.sessions().stream().allMatch(s -> s.sure() && s.pathBytes() == 0),
          () -> "sessions are not sure, or own something: " + counts);
      check(
          world.timers.size() == 2 * counts.sessions().size(),
          () -> "timers are left: " + world.timers.size() + " for " + counts);
    }
    calls.forEach(
        (call, coordinator) ->
            check(coordinator.crashed || answered.contains(call), () -> "never answered: " + call));
    tracks.forEach(
        (requestId, track) ->
            check(
                track.over || unheard.contains(requestId) || track.coordinator.crashed,
                () -> "never told its ending: " + requestId));
  }

  static void check(boolean rule, Supplier<String> broken) {
    if (!rule) {
      throw new Sim.Violation(broken.get());
    }
  }
}
