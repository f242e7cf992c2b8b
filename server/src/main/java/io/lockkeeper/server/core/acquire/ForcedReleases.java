package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.state.CoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Callers who wait, for a bounded time, until entries that were taken away are gone. */
public final class ForcedReleases {

  private static final long PATIENCE_NANOS = Duration.ofSeconds(9).toNanos();

  private final CoreState core;
  private final Map<NodeKey, List<Forcing>> byEntry = new HashMap<>();

  private static final class Forcing {
    private final CallId call;
    private final int count;
    private final Set<NodeKey> left;

    Forcing(CallId call, List<NodeKey> entries) {
      this.call = call;
      this.count = entries.size();
      this.left = new HashSet<>(entries);
    }
  }

  public ForcedReleases(CoreState core) {
    this.core = core;
  }

  /** Answers the call when the entries are gone. */
  public void await(CallId call, List<NodeKey> entries) {
    Forcing forcing = new Forcing(call, entries);
    for (NodeKey key : forcing.left) {
      byEntry.computeIfAbsent(key, k -> new ArrayList<>(1)).add(forcing);
    }
    core.timers.at(core.now + PATIENCE_NANOS, () -> giveUp(forcing));
  }

  private void giveUp(Forcing forcing) {
    if (forcing.left.isEmpty()) {
      return;
    }
    for (NodeKey key : forcing.left) {
      Optional.ofNullable(byEntry.get(key)).ifPresent(list -> list.remove(forcing));
      byEntry.remove(key, List.of());
    }
    core.fail(
        forcing.call,
        Failure.Reason.UNAVAILABLE,
        "not every holder is known to have lost the lock yet: look, and try again");
  }

  /** An entry is gone from a queue. */
  void onDeparted(LockName lock, Entry entry) {
    if (byEntry.isEmpty()) {
      return;
    }
    NodeKey key = new NodeKey(lock, entry.name().text());
    for (Forcing forcing : Optional.ofNullable(byEntry.remove(key)).orElse(List.of())) {
      forcing.left.remove(key);
      if (forcing.left.isEmpty()) {
        core.reply(forcing.call, new Answer.Forced(forcing.count, 0));
      }
    }
  }
}
