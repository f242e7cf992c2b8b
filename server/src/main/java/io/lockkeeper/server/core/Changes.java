package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;

/** Tells the watchers what happens to locks, as long as anybody wants to hear it. */
final class Changes {

  private final World world;
  private final Views views;

  Changes(World world, Views views) {
    this.world = world;
    this.views = views;
  }

  /** Tells that something has happened to an entry of a lock's queue. */
  void publish(LockName lock, LockChange.Cause cause, Entry entry) {
    if (world.watched) {
      publish(lock, cause, Optional.of(entry));
    }
  }

  /** Tells that a lock has changed. */
  void publish(LockName lock, LockChange.Cause cause, Optional<Entry> entry) {
    if (!world.watched) {
      return;
    }
    Optional<LockQueue> queue = world.mirror.queue(lock);
    world.emit(
        new Effect.Publish(
            new LockChange(
                world.mirror.revision(),
                lock,
                cause,
                entry.map(views::contender),
                queue.map(q -> views.contenders(q.holders())).orElse(List.of()),
                queue.map(LockQueue::waiting).orElse(0),
                1)));
  }
}
