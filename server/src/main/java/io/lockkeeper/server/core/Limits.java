package io.lockkeeper.server.core;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The limits of locks of permits: what is in force, and setting it. */
final class Limits {

  /** How many locks may have a limit of their own: each keeps a node in ZooKeeper for ever. */
  private static final int MAX_CONFIGURED = 100_000;

  private final World world;
  private final Barriers barriers;
  private final Acquisitions acquisitions;
  private final Map<Long, Change> underWay = new HashMap<>();
  private long changes;

  /** A limit that is being set, and the one before. */
  private record Change(ClientEvent.ConfigureLock event, int previous) {}

  Limits(World world, Barriers barriers, Acquisitions acquisitions) {
    this.world = world;
    this.barriers = barriers;
    this.acquisitions = acquisitions;
  }

  /** Returns the limit that is in force: configured, or named by who came first. */
  static OptionalInt inForce(World world, LockName lock) {
    OptionalInt configured = world.mirror.limit(lock);
    if (configured.isPresent()) {
      return configured;
    }
    return world
        .mirror
        .firstMode(lock)
        .filter(PermitsKind.Permits.class::isInstance)
        .map(mode -> OptionalInt.of(mode.capacity()))
        .orElse(OptionalInt.empty());
  }

  void configure(ClientEvent.ConfigureLock event) {
    if (!world.mirror.isCurrent()) {
      world.fail(event.call(), Failure.Kind.UNAVAILABLE, World.NO_CONTACT);
      return;
    }
    Optional<Kind> other =
        world
            .mirror
            .firstMode(event.lock())
            .map(Mode::kind)
            .filter(kind -> !(kind instanceof PermitsKind));
    if (other.isPresent()) {
      Failure failure = Failure.wrongKind(event.lock(), other.get().name());
      world.reply(event.call(), new Answer.Failed(failure));
      return;
    }
    if (event.limit().isPresent() && world.mirror.markedCount() >= MAX_CONFIGURED) {
      world.fail(
          event.call(),
          Failure.Kind.TOO_MANY,
          "the limit of " + MAX_CONFIGURED + " configured locks is reached: take some back");
      return;
    }
    underWay.put(++changes, new Change(event, inForce(world, event.lock()).orElse(0)));
    world.emit(new Effect.SetLimit(changes, event.lock(), event.limit()));
  }

  void onAnswered(ErrandEvent.LimitAnswered answer) {
    Optional.ofNullable(underWay.remove(answer.change()))
        .ifPresent(change -> answer(change, answer.done()));
  }

  private void answer(Change change, boolean done) {
    CallId call = change.event().call();
    if (!done) {
      world.fail(
          call,
          Failure.Kind.UNAVAILABLE,
          "ZooKeeper did not confirm the limit: it may be set, send it again");
      return;
    }
    // After a barrier this coordinator, too, decides by the new limit.
    barriers.pass(passed -> world.reply(call, new Answer.LimitSet(change.previous())));
  }

  /** An entry was queued: the limit may have shrunk while it was being created. */
  void onQueued(LockName lock, Entry entry) {
    OptionalInt limit = world.mirror.limit(lock);
    if (limit.isPresent()) {
      refuseIfAbove(limit.getAsInt(), lock, entry);
    }
  }

  /** A lock's limit has changed: who asks for more than there is waits in vain. */
  void onChanged(LockName lock) {
    world
        .mirror
        .limit(lock)
        .ifPresent(
            limit ->
                world.mirror.queue(lock).stream()
                    .flatMap(queue -> List.copyOf(queue.entries()).stream())
                    .forEach(entry -> refuseIfAbove(limit, lock, entry)));
  }

  private void refuseIfAbove(int limit, LockName lock, Entry entry) {
    if (entry.mode().weight() > limit && !entry.holds()) {
      Ticket.of(entry)
          .ifPresent(
              ticket ->
                  acquisitions.expireWait(
                      ticket,
                      Notice.RefusalReason.LIMIT_TOO_SMALL,
                      "the limit of lock '" + lock + "' is " + limit + " now"));
    }
  }
}
