package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.Hold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;

/** Compares every grant with the truth, and follows what becomes of it. */
final class SimHolds {

  /** What is known of one acquisition of one coordinator. */
  static final class Life {
    final SimCoordinator coordinator;
    final Acquisition acquisition;
    AcquisitionState.State state = AcquisitionState.State.ENQUEUING;
    boolean granted;
    long grantedAt;

    /** Whether its holder gave it back. */
    boolean released;

    /** Whether its holder was told that it is over, one way or another. */
    boolean over;

    long overAt;

    Life(SimCoordinator coordinator, Acquisition acquisition) {
      this.coordinator = coordinator;
      this.acquisition = acquisition;
    }

    boolean isHeld() {
      return state == AcquisitionState.State.HELD;
    }

    boolean relies() {
      return granted && !released && !over && isServed();
    }

    /** Returns whether the coordinator has a say in it still. */
    boolean isServed() {
      SimConnection connection = coordinator.on(acquisition.lease().session());
      return !coordinator.crashed && connection.isOurs();
    }

    @Override
    public String toString() {
      return request() + " " + state + (released ? " released" : "") + (over ? " over" : "");
    }

    String request() {
      return acquisition.command().requestId();
    }

    Optional<Mode> mode(LockName lock) {
      return acquisition.command().locks().stream()
          .filter(wanted -> wanted.name().equals(lock))
          .map(AcquireCommand.WantedLock::mode)
          .findFirst();
    }

    /** Returns whether it has ended here only, for another coordinator to go on with it. */
    boolean isHandedOver() {
      return over && acquisition.lastNotice().filter(Notice::isFinal).isEmpty();
    }

    /** Returns whether its client wants it no more. */
    boolean isLeft() {
      return coordinator.wasLeft(request());
    }

    boolean isOfOwner(Life other) {
      return acquisition.lease().id().equals(other.acquisition.lease().id())
          && !acquisition.command().owner().isEmpty()
          && acquisition.command().owner().equals(other.acquisition.command().owner());
    }
  }

  /** A holder was lost, and its lock is to stay closed for a while. */
  private record Lost(SimNode node, long since) {
    private long until() {
      return since + node.lockDelay.toNanos();
    }
  }

  private final Sim sim;
  private final List<Life> lives = new ArrayList<>();
  private final Map<UUID, List<Life>> byEntry = new HashMap<>();
  private final Map<String, Life> byRequest = new HashMap<>();
  private final Map<LockName, List<Lost>> losses = new HashMap<>();
  private final Set<String> dispossessed = new HashSet<>();
  private final Map<String, Map<LockName, Integer>> limits = new HashMap<>();
  private final Set<SimNode> claimed = new HashSet<>();
  private final Set<String> deadlocked = new HashSet<>();
  private final SimTokens tokens = new SimTokens();

  /** Which states followed which. */
  final Set<String> moves = new TreeSet<>();

  /** What kinds of grants there were. */
  final Map<String, Integer> kinds = new HashMap<>();

  /** How many grants there were. */
  int grants;

  SimHolds(Sim sim) {
    this.sim = sim;
  }

  /**
   * Returns what is known of the acquisition that entries were created for, at each coordinator.
   */
  List<Life> lives(UUID id) {
    return byEntry.getOrDefault(id, List.of());
  }

  Optional<Life> lifeOf(String requestId) {
    return Optional.ofNullable(byRequest.get(requestId));
  }

  /** Returns whether the lock was taken away from the request's client before it could know. */
  boolean isDispossessed(String requestId) {
    return dispossessed.contains(requestId);
  }

  /** Looks at what a coordinator has come to believe. */
  void afterStep(SimCoordinator coordinator) {
    List<Life> granted = new ArrayList<>();
    Map<UUID, Acquisition> acquisitions = coordinator.kernel.core.acquisitions;
    for (Acquisition acquisition : acquisitions.values()) {
      Life life =
          coordinator.lives.compute(
              acquisition.id(),
              (id, known) ->
                  known == null || known.acquisition != acquisition
                      ? begin(coordinator, acquisition)
                      : known);
      move(life, acquisition.state().state());
      if (life.isHeld() && !life.granted) {
        life.granted = true;
        life.grantedAt = sim.now;
        granted.add(life);
      }
    }
    List<Life> gone =
        coordinator.lives.values().stream()
            .filter(life -> !acquisitions.containsKey(life.acquisition.id()))
            .toList();
    gone.forEach(life -> move(life, AcquisitionState.State.ENDED));
    coordinator.lives.values().removeAll(gone);
    // Of several that are granted in one step one may not know that it has just been taken away.
    granted.stream()
        .filter(life -> life.acquisition.holds().stream().anyMatch(this::wasRemoved))
        .forEach(life -> dispossess(life.request()));
    granted.forEach(this::onGrant);
  }

  private Life begin(SimCoordinator coordinator, Acquisition acquisition) {
    Life life = new Life(coordinator, acquisition);
    lives.add(life);
    byEntry.computeIfAbsent(acquisition.id(), id -> new ArrayList<>(1)).add(life);
    byRequest.put(life.request(), life);
    return life;
  }

  private void move(Life life, AcquisitionState.State state) {
    if (life.state == state) {
      return;
    }
    moves.add(life.state + " -> " + state);
    life.state = state;
    if (life.acquisition.wasGranted() && !life.granted && !life.isHeld()) {
      // It was granted and ended within one step.
      life.granted = true;
      use(life);
    }
    switch (state) {
      case RELEASING -> life.released = true;
      case LEAVING, ENDED -> end(life);
      case ENQUEUING, QUEUED, HELD, CANCELLED -> {}
    }
  }

  private void use(Life life) {
    for (Hold hold : life.acquisition.holds()) {
      nodeOf(hold).ifPresent(node -> node.users.add(life));
    }
  }

  private Optional<SimNode> nodeOf(Hold hold) {
    return hold.isNamed() ? sim.zooKeeper.find(hold.lock(), hold.name().text()) : Optional.empty();
  }

  boolean isThere(Hold hold) {
    return nodeOf(hold).isPresent();
  }

  /** Entries exist: of what was granted before that, they are whose it is. */
  void onCreated(List<SimNode> nodes) {
    for (SimNode node : nodes) {
      node.name.id().map(this::lives).orElse(List.of()).stream()
          .filter(life -> life.granted && !node.users.contains(life))
          .forEach(node.users::add);
    }
  }

  private void end(Life life) {
    Optional<Notice> last = life.acquisition.state().ending().or(life.acquisition::lastNotice);
    life.released |= last.filter(Notice.Released.class::isInstance).isPresent();
    if (!life.over) {
      life.over = true;
      life.overAt = sim.now;
      if (last.isPresent() && last.get() instanceof Notice.Lost lost && isAbrupt(life, lost)) {
        dispossess(life.request());
      }
      if (last.isPresent()
          && last.get() instanceof Notice.NotAcquired not
          && not.reason() == Notice.RefusalReason.WOULD_DEADLOCK
          && !sim.has(Sim.Mutant.TIMEOUT_CALLED_DEADLOCK)
          && deadlocked.add(life.request())) {
        sim.rules.onDeadlock(life);
      }
    }
  }

  /**
   * Returns whether the client could not know beforehand when it would lose the lock: it was
   * forced, or what it is nested in was held for too long.
   */
  private boolean isAbrupt(Life life, Notice.Lost lost) {
    if (lost.reason() == Notice.LossReason.MAX_HOLD) {
      check(
          isOverdue(life)
              || life.coordinator.lives.values().stream()
                  .anyMatch(other -> other.isOfOwner(life) && isOverdue(other)),
          () -> "nobody has held for too long: " + life.request());
      return !isOverdue(life);
    }
    return lost.reason() == Notice.LossReason.FORCED;
  }

  private boolean isOverdue(Life life) {
    return life.granted
        && (!life.over || life.overAt == sim.now)
        && life.acquisition.command().maxHold().isPresent()
        && (sim.now - life.grantedAt >= life.acquisition.command().maxHold().get().toNanos()
            || sim.now >= sim.requests.get(life.request()).until);
  }

  /** Taken away by force: its client learns that when others have the lock already. */
  void dispossess(String request) {
    dispossessed.add(request);
    sim.clients.forEach(client -> client.onDispossessed(request));
  }

  /** Returns whether a request was refused because it would wait for ever. */
  boolean isDeadlocked(String request) {
    return deadlocked.contains(request);
  }

  private void onGrant(Life life) {
    grants++;
    if (sim.requests.get(life.request()).left
        || sim.losses.isGivenBack(life.request())
        || sim.losses.isClosed(life.acquisition.lease().id())) {
      // Its client has given it back elsewhere, and nobody begins to use it.
      use(life);
      return;
    }
    Notice.Granted told = (Notice.Granted) life.acquisition.lastNotice().orElseThrow();
    Supplier<String> what =
        () -> life.request() + " on " + life.acquisition.lease().id().tag() + ": " + told;
    boolean byQueue = life.acquisition.holds().stream().anyMatch(SimHolds::isByQueue);
    check(
        !life.coordinator.kernel.core.leaving,
        () -> "granted after the promises were recorded: " + what.get());
    check(
        life.coordinator.mirrorIsCurrent || !byQueue,
        () -> "granted on a stale mirror: " + what.get());
    life.acquisition.holds().stream()
        .filter(SimHolds::isByQueue)
        .forEach(hold -> sim.freezes.onGrant(life.coordinator, hold.lock(), nodeOf(hold), what));
    List<LockName> names = told.grants().stream().map(Notice.Grant::lock).toList();
    List<AcquireCommand.WantedLock> wanted = life.acquisition.command().locks();
    check(
        names.equals(wanted.stream().map(AcquireCommand.WantedLock::name).toList()),
        () -> "not all was granted of " + wanted + ": " + what.get());
    if (life.acquisition.holds().stream().anyMatch(this::wasRemoved)) {
      // Somebody has just taken an entry away, and the coordinator cannot know yet.
      use(life);
      return;
    }
    for (Notice.Grant grant : told.grants()) {
      Mode mode = life.mode(grant.lock()).orElseThrow();
      if (!isDispossessed(life.request())) {
        // What was taken away its client may still claim by its token: nobody has told it so.
        tokens.onGrant(life, grant, mode, what);
      }
      if (!sim.has(Sim.Mutant.TOKEN_FROM_SEQUENCE)) {
        compare(life, grant, mode, what);
      }
      checkOthers(life, grant.lock(), mode, what);
    }
    kinds.merge(kind(life, told), 1, Integer::sum);
  }

  /**
   * Returns the hold by whose entry it is held: that beside which it is to be placed, as long as
   * its own is not created, and so on. That one is not deleted before.
   */
  private Hold existing(Hold hold) {
    Hold at = hold;
    while (at.beside().isPresent() && isToBeCreated(at)) {
      at = at.beside().get();
    }
    return at;
  }

  private boolean isToBeCreated(Hold hold) {
    return !hold.acquisition().isAnswered()
        && nodeOf(hold).isEmpty()
        && !sim.zooKeeper.wasThere(hold.lock(), hold.name().text());
  }

  /** Returns whether it was held by the entry that is gone, and has none of its own. */
  private boolean isHeldBy(SimNode gone, Life life) {
    // Whoever does not serve it any more, or has handed it over, has told nobody an end.
    return life.granted
        && !life.released
        && (!life.over || !life.isServed() || life.isHandedOver())
        && life.acquisition
            .hold(gone.lock)
            .map(this::existing)
            .filter(hold -> hold.acquisition() != life.acquisition && hold.isNamed())
            .filter(hold -> hold.name().text().equals(gone.name.text()))
            .isPresent();
  }

  /** Returns whether somebody else has removed the entry by which it is held. */
  private boolean wasRemoved(Hold hold) {
    Hold existing = existing(hold);
    return existing.isNamed() && sim.zooKeeper.wasRemoved(existing.lock(), existing.name().text());
  }

  private static boolean isByQueue(Hold hold) {
    return hold.standing() instanceof Hold.Standing.Granted granted
        && granted.proof() == Hold.Proof.QUEUE;
  }

  private static String kind(Life life, Notice.Granted told) {
    return life.acquisition.holds().stream().anyMatch(hold -> hold.beside().isPresent())
        ? "beside"
        : told.grants().size() + " queued";
  }

  private void compare(Life life, Notice.Grant grant, Mode mode, Supplier<String> what) {
    List<SimNode> queue = sim.zooKeeper.ordered(grant.lock());
    Hold hold = life.acquisition.hold(grant.lock()).orElseThrow();
    if (existing(hold) != hold) {
      check(
          isThere(existing(hold))
              // The request may have an entry at the coordinator that adopted the session since.
              || sim.zooKeeper.hasAll(sim.requests.get(life.request())),
          () -> "granted beside an entry that is gone: " + what.get());
      return;
    }
    Optional<SimNode> found = nodeOf(hold).filter(node -> isOf(node, life, grant, mode));
    check(found.isPresent(), () -> "granted an entry that is gone: " + what.get());
    SimNode node = found.get();
    if (life.acquisition.isClaimed()) {
      claimed.add(node);
    }
    List<SimNode> ahead = new ArrayList<>();
    for (SimNode other : queue) {
      if (other != node && isReleased(other)) {
        continue;
      }
      check(
          SimModes.joins(other, ahead, largestLimit(other)),
          () -> "granted past " + other + ": " + what.get() + ", ahead " + ahead);
      if (other == node) {
        break;
      }
      ahead.add(other);
    }
    for (Lost lost : losses.getOrDefault(grant.lock(), List.of())) {
      boolean kept =
          sim.now >= lost.until()
              || !SimModes.blocks(lost.node(), node, Integer.MAX_VALUE)
              || SimNode.ORDER.compare(node, lost.node()) < 0
              // Given back before anybody could know that it was gone.
              || !wasLost(lost.node())
              || sim.losses.mayHaveEnded(grant.lock(), lost.since());
      check(kept, () -> "granted during the lock delay of " + lost + ": " + what.get());
    }
    node.users.add(life);
    limits
        .computeIfAbsent(life.request(), id -> new HashMap<>())
        .put(grant.lock(), largestLimit(node));
  }

  /**
   * Returns the largest limit under which an entry may have been granted. Where its client claimed
   * permits, and everything ahead holds, that is what the entry names, whatever was configured.
   */
  private int largestLimit(SimNode node) {
    int largest = sim.modes.largestLimit(node);
    return claimed.contains(node) ? Math.max(largest, node.name.mode().capacity()) : largest;
  }

  private static boolean isOf(SimNode node, Life life, Notice.Grant grant, Mode mode) {
    Mode had = node.name.mode();
    boolean same =
        mode instanceof PermitsKind.Permits
            ? had instanceof PermitsKind.Permits && had.weight() == mode.weight()
            : had.equals(mode);
    return same
        && node.token().equals(grant.token())
        && node.details.leaseId().equals(life.acquisition.lease().id().toString());
  }

  /** Who has released does not hold any more, even while the entry is there. */
  boolean isReleased(SimNode node) {
    return node.users.stream().anyMatch(life -> life.released)
        && node.users.stream()
            .allMatch(life -> life.over || isReleased(node, life) || isTakenElsewhere(life));
  }

  /** Taken away by an outsider, of which whoever does not serve it any more is not told. */
  private boolean isTakenElsewhere(Life life) {
    return !life.isServed() && isDispossessed(life.request());
  }

  /**
   * Wherever its client has given it back, or is about to since nobody heard it; or what was told
   * where it is not served any more was good for max_hold, and that is over.
   */
  private boolean isReleased(SimNode node, Life life) {
    boolean unheard = !life.isServed() && (life.isLeft() || isOverdue(life));
    return unheard
        || sim.losses.isGivenBack(life.request())
        || node.users.stream()
            .anyMatch(user -> user.released && user.request().equals(life.request()));
  }

  /** No coordinator may take two for holders that exclude each other. */
  private void checkOthers(Life life, LockName lock, Mode mode, Supplier<String> what) {
    // Permits are added up for whoever is among those that are counted.
    boolean itself = false;
    int taken = 0;
    int limit = 0;
    List<Life> counted = new ArrayList<>();
    for (SimCoordinator coordinator : sim.coordinators) {
      for (Life other : coordinator.lives.values()) {
        Optional<Mode> had = other.mode(lock);
        boolean counts =
            // Who stands still tells nobody anything; what its clients rely on is looked at there.
            other.isHeld()
                && other.isServed()
                && !coordinator.isPaused()
                && !sim.requests.get(other.request()).left
                && !sim.losses.isGivenBack(other.request());
        if (!counts
            || had.isEmpty()
            || (other != life && other.request().equals(life.request()))
            || dispossessed.contains(other.request())) {
          continue;
        }
        check(
            other == life || !SimModes.exclude(mode, had.get(), life.isOfOwner(other)),
            () -> "held by " + other.request() + ": " + what.get());
        itself |= other == life;
        counted.add(other);
        taken += had.get().weight();
        limit = Math.max(limit, limitOf(other.request(), lock));
      }
    }
    int most = limit;
    int sum = taken;
    check(
        !(mode instanceof PermitsKind.Permits)
            || !itself
            || sum <= most
            || sim.has(Sim.Mutant.TOKEN_FROM_SEQUENCE),
        () -> sum + " permits of " + most + ": " + what.get() + ", all " + counted);
  }

  /** Returns the largest limit under which a request may have been admitted. */
  int limitOf(String request, LockName lock) {
    return limits.getOrDefault(request, Map.of()).getOrDefault(lock, 0);
  }

  /** An entry is gone. */
  void onGone(SimNode node, SimZooKeeper.Cause cause) {
    if (cause == SimZooKeeper.Cause.DELETED) {
      node.users.forEach(
          life ->
              check(
                  !life.relies(),
                  () -> "the entry of a holder was deleted: " + node + " of " + life.request()));
    } else if (cause == SimZooKeeper.Cause.REMOVED) {
      node.users.forEach(life -> dispossess(life.request()));
      lives.stream().filter(life -> isHeldBy(node, life)).forEach(l -> dispossess(l.request()));
      sim.strangers.forEach(stranger -> stranger.onRemoved(node));
      sim.losses.onRemoved(node);
    }
    boolean lost = wasLost(node);
    long delay = node.lockDelay.toNanos();
    if (lost && delay > 0) {
      losses.computeIfAbsent(node.lock, lock -> new ArrayList<>()).add(new Lost(node, sim.now));
    }
  }

  /**
   * Returns whether a holder was lost. Of several that share an entry, what was lost where it was
   * served before is known to nobody who serves the rest.
   */
  private boolean wasLost(SimNode node) {
    boolean given = node.users.stream().anyMatch(life -> life.released);
    return node.users.stream()
        .anyMatch(
            life -> !isReleased(node, life) && (life.isServed() || !(given || isUnheard(life))));
  }

  /** Its client never received the grant, so its request says that it waits. */
  private boolean isUnheard(Life life) {
    return sim.requests.get(life.request()).tokens.isEmpty();
  }

  private static void check(boolean rule, Supplier<String> broken) {
    SimRules.check(rule, broken);
  }
}
