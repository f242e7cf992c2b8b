package io.lockkeeper.server.core;

import java.util.Optional;

/** Tells the watchers what happens to locks. */
final class Changes {

  private final World world;
  private final Views views;

  Changes(World world, Views views) {
    this.world = world;
    this.views = views;
  }

  /** Tells that something has happened to an entry of a lock's queue. */
  void publish(LockName lock, LockChange.Cause cause, Entry entry) {
    publish(lock, cause, Optional.of(entry));
  }

  /** Tells that a lock has changed. */
  void publish(LockName lock, LockChange.Cause cause, Optional<Entry> entry) {
    world.emit(new Effect.Publish(views.change(lock, cause, entry)));
  }
}
