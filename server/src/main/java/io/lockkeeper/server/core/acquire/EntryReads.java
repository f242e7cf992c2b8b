package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Timers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Has the data of entries read that are not ours, and says when it is there. Each reading ends: the
 * entry was read, or is gone, or the connection broke over which it was read.
 */
public final class EntryReads {

  /** How many entries are read at a time, of those that somebody waits for; the others wait. */
  private static final int MAX_UNDER_WAY = 256;

  private static final long PATIENCE_NANOS = 2_000_000_000L;

  private final CoreState core;
  private final Map<NodeKey, List<Wait>> waits = new HashMap<>();

  /** What is to be read before all else: whoever waits for it must not go on without. */
  private final Set<NodeKey> urgent = new LinkedHashSet<>();

  /** What is to be read next. */
  private final Set<NodeKey> next = new LinkedHashSet<>();

  private final Set<NodeKey> underWay = new HashSet<>();

  /** Somebody who waits for entries to be read, mostly not for ever. */
  private record Wait(Set<NodeKey> missing, Optional<Timers.Timer> bound, Runnable then) {}

  public EntryReads(CoreState core) {
    this.core = core;
  }

  /**
   * Reads the entries, and runs {@code then} when each was read or could not be, or after two
   * seconds.
   */
  public void read(List<NodeKey> entries, Runnable then) {
    if (entries.isEmpty()) {
      then.run();
      return;
    }
    Set<NodeKey> missing = new LinkedHashSet<>(entries);
    Timers.Timer bound = core.timers.at(core.now + PATIENCE_NANOS, () -> giveUp(missing, then));
    await(missing, Optional.of(bound), then);
  }

  /** The same, however long it takes: for whoever must not go on without. */
  void readToTheEnd(List<NodeKey> entries, Runnable then) {
    if (entries.isEmpty()) {
      then.run();
    } else {
      await(new LinkedHashSet<>(entries), Optional.empty(), then);
    }
  }

  private void await(Set<NodeKey> missing, Optional<Timers.Timer> bound, Runnable then) {
    for (NodeKey key : missing) {
      List<Wait> waiting = waits.computeIfAbsent(key, k -> new ArrayList<>(1));
      if (!underWay.contains(key)) {
        (bound.isPresent() ? next : urgent).add(key);
      }
      waiting.add(new Wait(missing, bound, then));
    }
    readNext();
  }

  private void readNext() {
    read(urgent);
    read(next);
  }

  private void read(Set<NodeKey> queue) {
    Iterator<NodeKey> keys = queue.iterator();
    while (underWay.size() < MAX_UNDER_WAY && keys.hasNext()) {
      NodeKey key = keys.next();
      keys.remove();
      if (waits.containsKey(key) && underWay.add(key)) {
        core.emit(new StoreEffect.ReadDetails(key.lock(), key.name()));
      }
    }
  }

  private void giveUp(Set<NodeKey> missing, Runnable then) {
    for (NodeKey key : missing) {
      waits.computeIfPresent(key, (k, waiting) -> withoutThose(waiting, missing));
      if (!waits.containsKey(key)) {
        // Whoever wants it next has it asked for anew.
        next.remove(key);
        underWay.remove(key);
      }
    }
    readNext();
    then.run();
  }

  private static @Nullable List<Wait> withoutThose(List<Wait> waiting, Set<NodeKey> missing) {
    waiting.removeIf(wait -> wait.missing() == missing);
    return waiting.isEmpty() ? null : waiting;
  }

  /** An entry's data has changed: it is read again. */
  public void onChanged(StoreEvent.EntryChanged event) {
    core.mirror.seen(event.lock(), event.zxid());
    core.mirror
        .find(event.lock(), event.entry().text())
        .filter(entry -> !entry.markChanged())
        .ifPresent(
            entry -> core.emit(new StoreEffect.ReadDetails(event.lock(), event.entry().text())));
  }

  /** The entry was read, and whoever keeps what was read has done so. */
  public void onRead(StoreEvent.DetailsRead event) {
    NodeKey key = new NodeKey(event.lock(), event.entry());
    underWay.remove(key);
    List<Wait> waiting = waits.remove(key);
    readNext();
    if (waiting == null) {
      return;
    }
    for (Wait wait : waiting) {
      wait.missing().remove(key);
      if (wait.missing().isEmpty()) {
        wait.bound().ifPresent(core.timers::cancel);
        wait.then().run();
      }
    }
  }
}
