package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Timers;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Lock delays: after a holder was lost rather than released, the next grant waits. What tells is a
 * guard whose entry is gone: it is in ZooKeeper, so that every coordinator knows, also one that
 * starts later, which then waits the whole delay once more. Whoever's time is over first takes the
 * guard away.
 */
public final class LockDelays {

  private static final long AGAIN_NANOS = Duration.ofSeconds(2).toNanos();

  private final CoreState core;
  private final Freezes freezes;
  private final Map<LockName, Map<UUID, Running>> running = new HashMap<>();
  private final Map<GuardKey, Timers.Timer> clearing = new HashMap<>();

  /** Where a guard is: those of one request have one uuid in several locks. */
  private record GuardKey(LockName lock, UUID id) {}

  /** A delay under way. */
  private record Running(MarkerName.Guard guard, Timers.Timer timer, long untilNanos) {}

  public LockDelays(CoreState core, Freezes freezes) {
    this.core = core;
    this.freezes = freezes;
  }

  /** Returns whether nobody may be admitted now. */
  boolean isDelayed(LockName lock) {
    return running.containsKey(lock);
  }

  /** Returns how long until the next grant, if a delay is under way. */
  Optional<Long> leftNanos(LockName lock) {
    return Optional.ofNullable(running.get(lock)).stream()
        .flatMap(delays -> delays.values().stream())
        .map(delay -> Math.max(0, delay.untilNanos() - core.now))
        .max(Long::compare);
  }

  /**
   * An entry is gone from a queue; returns whether a delay begins. One that only waited, and went
   * with its session, delays nobody: its guard is cleared away.
   */
  boolean onGone(LockName lock, Entry entry) {
    Optional<UUID> id = entry.name().id();
    Optional<MarkerName.Guard> left =
        id.isPresent() ? core.mirror.guard(lock, id.get()) : Optional.empty();
    if (left.isEmpty()) {
      return false;
    }
    if (onlyWaited(lock, entry)) {
      clear(lock, left.get());
      return false;
    }
    begin(lock, left.get());
    return true;
  }

  /**
   * Nobody is admitted in a delay or a freeze, so that nobody may know here who holds. That an
   * entry of ours was not granted here says nothing: it may be another coordinator's by now.
   */
  private boolean onlyWaited(LockName lock, Entry entry) {
    boolean granted = Hold.of(entry).filter(Hold::wasGranted).isPresent();
    boolean open = !isDelayed(lock) && !freezes.isFrozen(lock);
    return core.mirror.isCurrent() && open && !entry.holds() && !granted;
  }

  /**
   * Takes a guard away that delays nobody, until it is gone. Not at once: its entry may have been
   * taken away while its creation was in doubt, and be created again with a guard of the same name.
   */
  private void clear(LockName lock, MarkerName.Guard guard) {
    Timers.Timer due = core.timers.at(core.now + AGAIN_NANOS, () -> clearingDue(lock, guard));
    Optional.ofNullable(clearing.put(new GuardKey(lock, guard.id()), due))
        .ifPresent(core.timers::cancel);
  }

  private void clearingDue(LockName lock, MarkerName.Guard guard) {
    if (isGuarding(lock, guard.id())) {
      stopClearing(new GuardKey(lock, guard.id()));
      return;
    }
    if (core.mirror.isCurrent()) {
      core.emit(new StoreEffect.RemoveGuard(lock, guard));
    }
    clear(lock, guard);
  }

  private void stopClearing(GuardKey key) {
    Optional.ofNullable(clearing.remove(key)).ifPresent(core.timers::cancel);
  }

  /** Returns whether the entry is there that a guard was created with. */
  private boolean isGuarding(LockName lock, UUID id) {
    return core.mirror.queue(lock).flatMap(queue -> queue.entryOf(id)).isPresent();
  }

  void onAppeared(LockName lock, MarkerName.Guard guard) {
    if (!isGuarding(lock, guard.id()) && !clearing.containsKey(new GuardKey(lock, guard.id()))) {
      begin(lock, guard);
    }
  }

  private void begin(LockName lock, MarkerName.Guard guard) {
    stopClearing(new GuardKey(lock, guard.id()));
    Map<UUID, Running> delays = running.computeIfAbsent(lock, name -> new HashMap<>(1));
    if (!delays.containsKey(guard.id())) {
      long until = core.now + Duration.ofMillis(guard.delayMillis()).toNanos();
      Timers.Timer timer = core.timers.at(until, () -> end(lock, guard));
      delays.put(guard.id(), new Running(guard, timer, until));
    }
  }

  /** Returns the guards of the delays that keep a lock closed. */
  public List<MarkerName.Guard> running(LockName lock) {
    return running.getOrDefault(lock, Map.of()).values().stream().map(Running::guard).toList();
  }

  /** Ends a delay, which has passed or is not wanted; the lock opens when the guard is gone. */
  public void end(LockName lock, MarkerName.Guard guard) {
    Map<UUID, Running> delays = running.getOrDefault(lock, Map.of());
    Running now = delays.get(guard.id());
    if (now == null) {
      return;
    }
    core.timers.cancel(now.timer());
    core.emit(new StoreEffect.RemoveGuard(lock, guard));
    Timers.Timer again = core.timers.at(core.now + AGAIN_NANOS, () -> end(lock, guard));
    delays.put(guard.id(), new Running(guard, again, Math.min(now.untilNanos(), core.now)));
  }

  /** A guard is gone; returns whether that opens the lock. */
  boolean onVanished(LockName lock, MarkerName.Guard guard) {
    // Whoever is created again with the same name gets a guard of its own.
    stopClearing(new GuardKey(lock, guard.id()));
    Map<UUID, Running> delays = running.get(lock);
    if (delays == null) {
      return false;
    }
    Running ended = delays.remove(guard.id());
    if (ended != null) {
      core.timers.cancel(ended.timer());
    }
    if (delays.isEmpty()) {
      running.remove(lock);
    }
    return delays.isEmpty();
  }

  /** The mirror is whole again: what runs is what it shows. */
  public void onCurrent() {
    // Which guards delay nobody is not known any more.
    List.copyOf(clearing.keySet()).forEach(this::stopClearing);
    // First what began meanwhile: a lock must not open between one delay and the next.
    for (LockName lock : core.mirror.marked()) {
      for (MarkerName.Guard guard : core.mirror.guards(lock)) {
        onAppeared(lock, guard);
      }
    }
    for (LockName lock : List.copyOf(running.keySet())) {
      for (Running delay : List.copyOf(running.getOrDefault(lock, Map.of()).values())) {
        if (core.mirror.guard(lock, delay.guard().id()).isEmpty()) {
          onVanished(lock, delay.guard());
        }
      }
    }
  }
}
