package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What must be true at every moment of a run, and what must be left at its end: nothing. */
final class SimRules {

  /** What is known of one acquisition. */
  private static final class Track {
    final SimCoordinator coordinator;
    final AcquireCommand command;
    long newest;
    long last;
    boolean over;

    Track(SimCoordinator coordinator, AcquireCommand command) {
      this.coordinator = coordinator;
      this.command = command;
    }
  }

  private final Sim sim;
  private final Map<String, Track> tracks = new LinkedHashMap<>();
  private final Map<String, AcquireCommand> commands = new LinkedHashMap<>();
  private final Set<String> unheard = new HashSet<>();
  private final Set<LeaseId> unheardLeases = new HashSet<>();
  private final Map<CallId, SimCoordinator> calls = new LinkedHashMap<>();
  private final Set<CallId> answered = new HashSet<>();

  /** How many requests were refused because they would wait for ever. */
  int deadlocks;

  SimRules(Sim sim) {
    this.sim = sim;
  }

  void beforeStep(SimCoordinator coordinator, Event event) {
    if (event instanceof ClientEvent.Acquire acquire) {
      String requestId = acquire.command().requestId();
      commands.put(requestId, acquire.command());
      if (!knows(coordinator, acquire)) {
        tracks.remove(coordinator + "/" + requestId);
      }
      track(coordinator, requestId);
      if (!isHeard(coordinator, acquire)) {
        allowGaps(requestId);
      }
    } else if (event instanceof SessionEvent.SessionAdopted adopted) {
      adopted.leases().forEach(lease -> forget(coordinator, lease.lease()));
    }
  }

  /** What comes back to a coordinator is new to it. */
  private void forget(SimCoordinator coordinator, LeaseId lease) {
    commands.forEach(
        (requestId, command) -> {
          if (command.lease().equals(Optional.of(lease))) {
            tracks.remove(coordinator + "/" + requestId);
          }
        });
  }

  /** On a lease's stream that another has replaced, nobody is told anything any more. */
  private static boolean isHeard(SimCoordinator coordinator, ClientEvent.Acquire acquire) {
    Lease lease = coordinator.kernel.core.leases.get(acquire.lease());
    return !acquire.session()
        || lease == null
        || lease.stream().equals(Optional.of(acquire.stream()));
  }

  private static boolean knows(SimCoordinator coordinator, ClientEvent.Acquire acquire) {
    String requestId = acquire.command().requestId();
    return Optional.ofNullable(coordinator.kernel.core.leases.get(acquire.lease()))
        .filter(l -> l.acquisitions().containsKey(requestId) || l.ending(requestId).isPresent())
        .isPresent();
  }

  /** What is known of an acquisition at one coordinator. */
  private Track track(SimCoordinator coordinator, String requestId) {
    return tracks.computeIfAbsent(
        coordinator + "/" + requestId, id -> new Track(coordinator, commands.get(requestId)));
  }

  /** A message arrives: what it asks must be answered. */
  void expectAnswers(ClientEvent event, SimCoordinator coordinator) {
    callOf(event).ifPresent(call -> calls.put(call, coordinator));
  }

  static Optional<CallId> callOf(ClientEvent event) {
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
    } else if (event instanceof ClientEvent.RequestRelease request) {
      return Optional.of(request.call());
    } else if (event instanceof ClientEvent.ForceRelease force) {
      return Optional.of(force.call());
    } else if (event instanceof ClientEvent.AnswerRelease answer) {
      return Optional.of(answer.call());
    } else if (event instanceof ClientEvent.UpdateMetadata update) {
      return Optional.of(update.call());
    } else if (event instanceof ClientEvent.ConfigureLock configure) {
      return Optional.of(configure.call());
    } else if (event instanceof ClientEvent.Freeze freeze) {
      return Optional.of(freeze.call());
    } else if (event instanceof ClientEvent.Unfreeze unfreeze) {
      return Optional.of(unfreeze.call());
    }
    return Optional.empty();
  }

  /** The acquisition may be told things when nobody listens. */
  void allowGaps(String requestId) {
    unheard.add(requestId);
  }

  /** Whoever resumes a lease and leaves hears what its client does not, as long as it lasts. */
  void allowGaps(LeaseId lease) {
    unheardLeases.add(lease);
  }

  private boolean isUnheard(String requestId) {
    return unheard.contains(requestId)
        || commands.get(requestId).lease().filter(unheardLeases::contains).isPresent();
  }

  void onTell(SimCoordinator coordinator, Effect.Tell tell) {
    Track track = track(coordinator, tell.requestId());
    Supplier<String> what = () -> tell.requestId() + ", " + tell.sequence() + ": " + tell.notice();
    check(
        track.last == 0 || tell.sequence() == track.last,
        () -> "something followed the ending: " + what.get());
    check(
        tell.sequence() <= track.newest + 1 || isUnheard(tell.requestId()),
        () -> "a notice is missing after " + track.newest + ": " + what.get());
    if (tell.notice() instanceof Notice.Granted granted) {
      check(
          granted.grants().stream()
              .map(Notice.Grant::lock)
              .toList()
              .equals(track.command.locks().stream().map(AcquireCommand.WantedLock::name).toList()),
          () -> "a part of a request is told for the whole: " + what.get());
      check(
          sim.holds
              .lifeOf(tell.requestId())
              .filter(life -> life.coordinator == coordinator && life.released)
              .isEmpty(),
          () -> "a grant was told after its release: " + what.get());
    }
    if (tell.notice() instanceof Notice.NotAcquired ending
        && ending.reason() == Notice.RefusalReason.WOULD_DEADLOCK
        && tell.sequence() > track.newest) {
      onDeadlock(coordinator, track, what);
    }
    track.newest = Math.max(track.newest, tell.sequence());
    if (tell.notice().isFinal()) {
      track.last = tell.sequence();
      track.over = true;
      sim.losses.onEnding(coordinator, tell);
    }
  }

  /** An acquisition was given up because it would wait for ever. */
  void onDeadlock(SimHolds.Life life) {
    deadlocks++;
    check(isSearched(life.request()), () -> "refused who has opted out: " + life);
    sim.cycles.onRefused(life.coordinator, life);
  }

  /** Somebody is told that it would wait for ever. */
  private void onDeadlock(SimCoordinator coordinator, Track track, Supplier<String> what) {
    if (sim.holds.isDeadlocked(track.command.requestId())) {
      return;
    }
    check(
        coordinator.lives.values().stream().anyMatch(other -> isInItsOwnWay(other, track.command)),
        () -> "it would not wait for itself: " + what.get());
  }

  private static boolean isInItsOwnWay(SimHolds.Life life, AcquireCommand command) {
    return !life.over
        && !command.owner().isEmpty()
        && life.acquisition.command().owner().equals(command.owner())
        && command.lease().equals(Optional.of(life.acquisition.lease().id()))
        && command.locks().stream().anyMatch(wanted -> isIn(life, wanted.name()));
  }

  /** Who waits for more may share what its owner has. */
  private static boolean isIn(SimHolds.Life life, LockName lock) {
    return life.acquisition.holds().stream().anyMatch(hold -> hold.lock().equals(lock));
  }

  /** Returns whether cycles of waits are looked for from the request. */
  boolean isSearched(String requestId) {
    return !commands.get(requestId).unsearched();
  }

  void onRefuse(SimCoordinator coordinator, Effect.Refuse refuse) {
    Track track = track(coordinator, refuse.requestId());
    Failure.Reason reason = refuse.failure().reason();
    boolean moved = reason == Failure.Reason.MOVED || reason == Failure.Reason.LEAVING;
    check(
        track.newest == 0 || track.over || moved || isUnheard(refuse.requestId()),
        () -> "refused what has been told of: " + refuse);
    track.over = true;
  }

  void onLeaseEnd(SimCoordinator coordinator, SimClient client) {
    client.requests().forEach(request -> track(coordinator, request.id).over = true);
  }

  void onReply(Effect.Reply reply) {
    check(calls.containsKey(reply.call()), () -> "nobody asked: " + reply);
    check(answered.add(reply.call()), () -> "answered twice: " + reply);
  }

  /** Somebody begins to use locks. */
  void onBelief(SimClient who, SimRequest request) {
    for (AcquireCommand.WantedLock wanted : request.command.locks()) {
      LockName lock = wanted.name();
      int taken = 0;
      int limit = 0;
      for (SimClient client : sim.clients) {
        for (SimRequest other : client.beliefs(lock)) {
          Mode had = other.mode(lock).orElseThrow();
          check(
              other == request || !SimModes.exclude(wanted.mode(), had, request.isOfOwner(other)),
              () ->
                  "two use "
                      + lock
                      + ": "
                      + who
                      + ", "
                      + request
                      + " and "
                      + client
                      + ", "
                      + other);
          taken += had.weight();
          limit = Math.max(limit, sim.holds.limitOf(other.id, lock));
        }
      }
      int most = limit;
      int sum = taken;
      check(
          !(wanted.mode() instanceof PermitsKind.Permits) || sum <= most,
          () -> sum + " permits of " + most + " of " + lock + " are in use");
      for (SimStranger stranger : sim.strangers) {
        check(
            stranger.holds(lock).filter(m -> SimModes.exclude(m, wanted.mode(), false)).isEmpty(),
            () -> "a client and a stranger use " + lock);
      }
    }
  }

  /** A stranger begins to use a lock. */
  void onBelief(SimStranger who, LockName lock, Mode mode) {
    for (SimClient client : sim.clients) {
      check(
          client.beliefs(lock).stream()
              .noneMatch(r -> SimModes.exclude(mode, r.mode(lock).orElseThrow(), false)),
          () -> "a stranger and a client use " + lock + ": " + client);
    }
    for (SimStranger other : sim.strangers) {
      check(
          other == who || other.holds(lock).filter(m -> SimModes.exclude(m, mode, false)).isEmpty(),
          () -> "two strangers use " + lock);
    }
  }

  /** Everybody has gone, and nothing has been broken for a while. */
  void atRest() {
    check(
        sim.zooKeeper.entryCount() == 0,
        () -> "entries are left in ZooKeeper: " + sim.claims.all());
    check(
        sim.zooKeeper.guards().isEmpty(),
        () -> "guards are left in ZooKeeper: " + sim.zooKeeper.guards());
    check(
        sim.zooKeeper.leaseCount() == 0,
        () -> "lease records are left in ZooKeeper: " + sim.claims.all());
    for (SimCoordinator coordinator : sim.coordinators) {
      CoreState core = coordinator.kernel.core;
      CoreCounts counts = coordinator.kernel.counts(sim.now);
      check(counts.mirrorCurrent(), () -> "the mirror is not current");
      long limited = sim.locks.stream().filter(lock -> core.mirror.limit(lock).isPresent()).count();
      check(
          counts.leases() + counts.acquisitions() + counts.entries() == 0
              && counts.locks() == limited,
          () -> "left over: " + counts);
      for (LockName lock : sim.locks) {
        LockView view = coordinator.kernel.lock(lock, 0, sim.now);
        check(view.delayedForNanos().isEmpty(), () -> "a delay goes on: " + view);
      }
      check(core.streams.isEmpty(), () -> "streams are left: " + core.streams.keySet());
      check(
          counts.sessions().stream().allMatch(s -> s.sure() && s.pathBytes() == 0),
          () -> "sessions are not sure, or own something: " + counts);
      check(
          core.timers.size() == 2 * counts.sessions().size(),
          () -> "timers are left: " + core.timers.size() + " for " + counts);
      checkMemory(coordinator.kernel, counts.sessions().size());
    }
    calls.forEach(
        (call, coordinator) ->
            check(coordinator.crashed || answered.contains(call), () -> "never answered: " + call));
    tracks
        .values()
        .forEach(
            track ->
                check(
                    track.over || isUnheard(track.command.requestId()) || track.coordinator.crashed,
                    () -> "never told its ending: " + track.command.requestId()));
    for (SimClaims.Claim claim : sim.claims.all()) {
      check(
          claim.session.alive && sim.coordinators.contains(claim.owner),
          () -> "a claim is left: " + claim);
    }
  }

  /**
   * A core has one of each of its parts. Beyond that there is what each standing session takes, and
   * what is remembered on purpose: how leases and holders ended, and the limits that were set.
   */
  private void checkMemory(Kernel kernel, int sessions) {
    Map<String, Integer> most =
        Map.ofEntries(
            Map.entry("LockSession", sessions),
            Map.entry("SessionKey", sessions),
            Map.entry("LeaderClock", sessions),
            Map.entry("LeaderClock$ProofTime", 10 * sessions),
            Map.entry("Timers$Timer", 2 * sessions),
            Map.entry("SessionPool later", 2 * sessions),
            Map.entry("LeaseId", Math.min(kernel.core.endedLeases.size(), 65_536)),
            Map.entry("CoreState$EndedLease", Math.min(kernel.core.endedLeases.size(), 65_536)),
            Map.entry("LockName", 3 * sim.locks.size()),
            Map.entry("Mirror$Departure", sim.locks.size()),
            Map.entry("LockQueue", sim.locks.size()),
            Map.entry("LockMarkers", sim.locks.size()),
            Map.entry("MarkerName$Limit", sim.locks.size()));
    SimMemory.of(kernel)
        .forEach(
            (kept, count) ->
                check(
                    count <= most.getOrDefault(kept, 1),
                    () -> "too much is left: " + count + " times " + kept));
    check(
        Stream.of(
                Acquisition.class,
                Lease.class,
                Hold.class,
                Entry.class,
                NodeKey.class,
                MarkerName.Guard.class)
            .map(SimMemory::name)
            .noneMatch(SimMemory.of(kernel)::containsKey),
        () -> "something is left in memory: " + SimMemory.of(kernel));
  }

  static void check(boolean rule, Supplier<String> broken) {
    if (!rule) {
      throw new Sim.Violation(broken.get());
    }
  }
}
