package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.state.CoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Callers who wait, for a bounded time, until entries and guards that were taken away are gone. */
public final class ForcedReleases {

  private static final long PATIENCE_NANOS = Duration.ofSeconds(9).toNanos();

  private final CoreState core;
  private final Map<NodeKey, List<Forcing>> byNode = new HashMap<>();

  private static final class Forcing {
    private final CallId call;
    private final Answer.Forced answer;
    private final Set<NodeKey> left;

    Forcing(CallId call, List<NodeKey> entries, List<NodeKey> guards) {
      this.call = call;
      this.answer = new Answer.Forced(entries.size(), 0, guards.size());
      this.left = new HashSet<>(entries);
      left.addAll(guards);
    }
  }

  public ForcedReleases(CoreState core) {
    this.core = core;
  }

  /** Answers the call when the entries and the guards are gone. */
  public void await(CallId call, List<NodeKey> entries, List<NodeKey> guards) {
    Forcing forcing = new Forcing(call, entries, guards);
    for (NodeKey key : forcing.left) {
      byNode.computeIfAbsent(key, k -> new ArrayList<>(1)).add(forcing);
    }
    core.timers.at(core.now + PATIENCE_NANOS, () -> giveUp(forcing));
  }

  private void giveUp(Forcing forcing) {
    if (forcing.left.isEmpty()) {
      return;
    }
    for (NodeKey key : forcing.left) {
      Optional.ofNullable(byNode.get(key)).ifPresent(list -> list.remove(forcing));
      byNode.remove(key, List.of());
    }
    core.fail(
        forcing.call,
        Failure.Reason.UNAVAILABLE,
        "it is not known yet whether every holder has lost the lock and every lock_delay has ended:"
            + " check the lock, then retry");
  }

  /** An entry or a guard is gone. */
  void onGone(LockName lock, String node) {
    if (byNode.isEmpty()) {
      return;
    }
    NodeKey key = new NodeKey(lock, node);
    for (Forcing forcing : Optional.ofNullable(byNode.remove(key)).orElse(List.of())) {
      forcing.left.remove(key);
      if (forcing.left.isEmpty()) {
        core.reply(forcing.call, forcing.answer);
      }
    }
  }
}
