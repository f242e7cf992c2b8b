package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Timers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Has the data of entries read that are not ours, and says when it is there. Each wait has a bound:
 * whoever waits goes on without what did not come.
 */
public final class EntryReads {

  /** How many entries are read for one view of locks. */
  private static final int MAX_VIEWED = 2_000;

  private static final long PATIENCE_NANOS = 2_000_000_000L;

  private final CoreState core;
  private final Map<NodeKey, List<Wait>> waits = new HashMap<>();

  /** Somebody who waits for entries to be read. */
  private record Wait(Set<NodeKey> missing, Timers.Timer bound, Runnable then) {}

  public EntryReads(CoreState core) {
    this.core = core;
  }

  /**
   * Reads the entries that a view of locks would show and of which too little is known; answers
   * when that is done.
   */
  public void readQueue(ClientEvent.ReadQueue event) {
    if (!core.mirror.isCurrent()) {
      // The rebuild reads it all, and whoever asked is refused meanwhile.
      core.reply(event.call(), new Answer.QueueRead());
      return;
    }
    List<NodeKey> unread =
        event.locks().stream()
            .flatMap(lock -> core.mirror.queue(lock).stream())
            .flatMap(queue -> unread(queue, event.queueLimit()))
            .limit(MAX_VIEWED)
            .toList();
    read(unread, () -> core.reply(event.call(), new Answer.QueueRead()));
  }

  private static Stream<NodeKey> unread(LockQueue queue, int queueLimit) {
    return Stream.concat(
            queue.holders().stream().filter(entry -> !Views.isNamed(entry, true)),
            queue.waiters(queueLimit).stream().filter(entry -> !Views.isNamed(entry, false)))
        .map(entry -> new NodeKey(queue.lock(), entry.name().text()));
  }

  /** Reads the entries, and runs {@code then} when each was read or could not be. */
  public void read(List<NodeKey> entries, Runnable then) {
    if (entries.isEmpty()) {
      then.run();
      return;
    }
    Set<NodeKey> missing = new HashSet<>(entries);
    Timers.Timer bound = core.timers.at(core.now + PATIENCE_NANOS, () -> giveUp(missing, then));
    for (NodeKey key : missing) {
      List<Wait> waiting = waits.computeIfAbsent(key, k -> new ArrayList<>(1));
      if (waiting.isEmpty()) {
        core.emit(new StoreEffect.ReadDetails(key.lock(), key.name()));
      }
      waiting.add(new Wait(missing, bound, then));
    }
  }

  private void giveUp(Set<NodeKey> missing, Runnable then) {
    for (NodeKey key : missing) {
      waits.computeIfPresent(key, (k, waiting) -> withoutThose(waiting, missing));
    }
    then.run();
  }

  /** Returns nothing where nobody waits for the entry any more: it is asked for anew then. */
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
    List<Wait> waiting = waits.remove(key);
    if (waiting == null) {
      return;
    }
    for (Wait wait : waiting) {
      wait.missing().remove(key);
      if (wait.missing().isEmpty()) {
        core.timers.cancel(wait.bound());
        wait.then().run();
      }
    }
  }
}
