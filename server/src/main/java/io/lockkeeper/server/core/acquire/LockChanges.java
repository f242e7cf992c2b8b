package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.state.CoreState;
import java.util.Optional;

/** Tells the watchers what happens to locks. */
public final class LockChanges {

  private final CoreState core;
  private final Views views;

  public LockChanges(CoreState core, Views views) {
    this.core = core;
    this.views = views;
  }

  /** Tells that something has happened to an entry of a lock's queue. */
  void publish(LockName lock, LockChange.Cause cause, Entry entry) {
    publish(lock, cause, Optional.of(entry));
  }

  /** Tells that a lock has changed. */
  public void publish(LockName lock, LockChange.Cause cause, Optional<Entry> entry) {
    core.emit(new Effect.Publish(views.change(lock, cause, entry)));
  }
}
