package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Lock delays: after a holder was lost rather than released, the next grant waits. What tells is a
 * guard whose entry is gone: it is in ZooKeeper, so that every coordinator knows, also one that
 * starts later, which then waits the whole delay once more. Whoever's time is over first takes the
 * guard away.
 */
final class Delays {

  private static final long AGAIN_NANOS = Duration.ofSeconds(2).toNanos();

  private final World world;
  private final Map<LockName, Map<UUID, Running>> running = new HashMap<>();
  private final Set<Place> clearing = new HashSet<>();
  private Consumer<LockName> onOver = lock -> {};

  /** Where a guard is: those of one request have one uuid in several locks. */
  private record Place(LockName lock, UUID id) {}

  /** A delay under way. */
  private record Running(MarkerName.Guard guard, Timers.Timer timer, long untilNanos) {}

  Delays(World world) {
    this.world = world;
  }

  /** Says whom to tell when no delay of a lock is left. */
  void listen(Consumer<LockName> listener) {
    onOver = listener;
  }

  /** Returns whether nobody may be admitted now. */
  boolean isDelayed(LockName lock) {
    return running.containsKey(lock);
  }

  /** Returns how long until the next grant, if a delay is under way. */
  Optional<Long> leftNanos(LockName lock) {
    return Optional.ofNullable(running.get(lock)).stream()
        .flatMap(delays -> delays.values().stream())
        .map(delay -> Math.max(0, delay.untilNanos() - world.now))
        .max(Long::compare);
  }

  /**
   * An entry is gone from a queue; returns whether a delay begins. One that only waited, and went
   * with its session, delays nobody: its guard is cleared away.
   */
  boolean onGone(LockName lock, Entry entry) {
    Optional<UUID> id = entry.name().id();
    Optional<MarkerName.Guard> left =
        id.isPresent() ? world.mirror.guard(lock, id.get()) : Optional.empty();
    if (left.isEmpty()) {
      return false;
    }
    // In a delay nobody is admitted, so that after a rebuild nobody knows here who holds.
    boolean waited = world.mirror.isCurrent() && !entry.holds() && !isDelayed(lock);
    if (waited) {
      clearing.add(new Place(lock, left.get().id()));
      clear(lock, left.get());
      return false;
    }
    begin(lock, left.get());
    return true;
  }

  /** Takes a guard away that delays nobody, until it is gone. */
  private void clear(LockName lock, MarkerName.Guard guard) {
    if (world.mirror.guard(lock, guard.id()).isEmpty()) {
      clearing.remove(new Place(lock, guard.id()));
    } else {
      world.emit(new Effect.RemoveGuard(lock, guard));
      world.timers.at(world.now + AGAIN_NANOS, () -> clear(lock, guard));
    }
  }

  void onAppeared(LockName lock, MarkerName.Guard guard) {
    boolean guarded =
        world.mirror.queue(lock).flatMap(queue -> queue.entryOf(guard.id())).isPresent();
    if (!guarded && !clearing.contains(new Place(lock, guard.id()))) {
      begin(lock, guard);
    }
  }

  private void begin(LockName lock, MarkerName.Guard guard) {
    Map<UUID, Running> delays = running.computeIfAbsent(lock, name -> new HashMap<>(1));
    if (!delays.containsKey(guard.id())) {
      long until = world.now + Duration.ofMillis(guard.delayMillis()).toNanos();
      Timers.Timer timer = world.timers.at(until, () -> over(lock, guard));
      delays.put(guard.id(), new Running(guard, timer, until));
    }
  }

  /** The delay has passed; the lock opens when the guard is gone. */
  private void over(LockName lock, MarkerName.Guard guard) {
    Map<UUID, Running> delays = running.getOrDefault(lock, Map.of());
    Running now = delays.get(guard.id());
    if (now == null) {
      return;
    }
    world.emit(new Effect.RemoveGuard(lock, guard));
    Timers.Timer again = world.timers.at(world.now + AGAIN_NANOS, () -> over(lock, guard));
    delays.put(guard.id(), new Running(guard, again, now.untilNanos()));
  }

  void onVanished(LockName lock, MarkerName.Guard guard) {
    Map<UUID, Running> delays = running.get(lock);
    if (delays == null) {
      return;
    }
    Running ended = delays.remove(guard.id());
    if (ended != null) {
      world.timers.cancel(ended.timer());
    }
    if (delays.isEmpty()) {
      running.remove(lock);
      onOver.accept(lock);
    }
  }

  /** The mirror is whole again: what runs is what it shows. */
  void onCurrent() {
    // First what began meanwhile: a lock must not open between one delay and the next.
    for (LockName lock : world.mirror.marked()) {
      for (MarkerName.Guard guard : world.mirror.guards(lock)) {
        onAppeared(lock, guard);
      }
    }
    for (LockName lock : List.copyOf(running.keySet())) {
      for (Running delay : List.copyOf(running.getOrDefault(lock, Map.of()).values())) {
        if (world.mirror.guard(lock, delay.guard().id()).isEmpty()) {
          onVanished(lock, delay.guard());
        }
      }
    }
  }
}
