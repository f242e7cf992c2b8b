package io.lockkeeper.integration.chaos;

import io.lockkeeper.client.LockHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Writes down when the deadline of what is held has moved on. */
final class Promises {

  private final Map<String, Held> held = new ConcurrentHashMap<>();
  private final History history;

  private record Held(LockHandle handle, long untilNanos) {}

  Promises(History history) {
    this.history = history;
  }

  void add(String acquisition, LockHandle handle) {
    held.put(acquisition, new Held(handle, handle.validUntilNanos()));
  }

  void forget(String acquisition) {
    held.remove(acquisition);
  }

  /** Looks at all handles. */
  void look() {
    held.forEach(
        (acquisition, known) -> {
          long until = known.handle().validUntilNanos();
          if (until != known.untilNanos()
              && held.replace(acquisition, known, new Held(known.handle(), until))) {
            history.line("extended").with("a", acquisition).with("until", until).write();
          }
        });
  }
}
