package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Views that wait for the data of entries that are not ours to be read. Each waits a bounded time
 * and is shown without what did not come. On the event loop only.
 */
final class DetailReads {

  /** How many entries are read for one view. */
  static final int MAX_READS = 64;

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final LockStore store;
  private final Map<NodeKey, List<Wait>> waits = new HashMap<>();
  private final Deque<Wait> oldestFirst = new ArrayDeque<>();

  private static final class Wait {
    private final Set<NodeKey> missing = new HashSet<>();
    private final Runnable then;
    private final Consumer<RefusedException> refuse;
    private final long deadlineNanos;
    private boolean done;

    Wait(Runnable then, Consumer<RefusedException> refuse, long deadlineNanos) {
      this.then = then;
      this.refuse = refuse;
      this.deadlineNanos = deadlineNanos;
    }

    void finish() {
      if (!done) {
        done = true;
        then.run();
      }
    }

    void giveUp(RefusedException why) {
      if (!done) {
        done = true;
        refuse.accept(why);
      }
    }
  }

  DetailReads(LockStore store) {
    this.store = store;
  }

  /** Reads the entries and then runs {@code then}, or {@code refuse} if all are given up. */
  void read(
      LockName lock,
      List<String> entries,
      long nowNanos,
      Runnable then,
      Consumer<RefusedException> refuse) {
    if (entries.isEmpty()) {
      then.run();
      return;
    }
    Wait wait = new Wait(then, refuse, nowNanos + PATIENCE_NANOS);
    oldestFirst.addLast(wait);
    for (String entry : entries.subList(0, Math.min(entries.size(), MAX_READS))) {
      NodeKey key = new NodeKey(lock, entry);
      wait.missing.add(key);
      waits.computeIfAbsent(key, k -> new ArrayList<>(1)).add(wait);
      store.readDetails(new StoreEffect.ReadDetails(lock, entry));
    }
  }

  void onRead(LockName lock, String entry) {
    NodeKey key = new NodeKey(lock, entry);
    List<Wait> waiting = waits.remove(key);
    if (waiting == null) {
      return;
    }
    for (Wait wait : waiting) {
      wait.missing.remove(key);
      if (wait.missing.isEmpty()) {
        wait.finish();
      }
    }
  }

  /** Shows what has waited too long. */
  void expire(long nowNanos) {
    while (!oldestFirst.isEmpty()
        && (oldestFirst.peekFirst().done
            || oldestFirst.peekFirst().deadlineNanos - nowNanos <= 0)) {
      Wait wait = oldestFirst.removeFirst();
      for (NodeKey key : wait.missing) {
        waits.computeIfPresent(key, (k, list) -> without(list, wait));
      }
      wait.finish();
    }
  }

  /** Gives up all. */
  void refuseAll(RefusedException why) {
    List<Wait> all = List.copyOf(oldestFirst);
    oldestFirst.clear();
    waits.clear();
    all.forEach(wait -> wait.giveUp(why));
  }

  private static List<Wait> without(List<Wait> list, Wait wait) {
    list.remove(wait);
    return list;
  }
}
