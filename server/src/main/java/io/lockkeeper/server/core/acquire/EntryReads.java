package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.state.CoreState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Has the data of entries read that are not ours, and says when it is there. The store answers
 * every reading, so that every wait ends.
 */
public final class EntryReads {

  private final CoreState core;
  private final Map<NodeKey, List<Wait>> waits = new HashMap<>();

  /** Somebody who waits for entries to be read. */
  private record Wait(Set<NodeKey> missing, Runnable then) {}

  public EntryReads(CoreState core) {
    this.core = core;
  }

  /** Reads the entries, and runs {@code then} when each was read or could not be. */
  public void read(List<NodeKey> entries, Runnable then) {
    if (entries.isEmpty()) {
      then.run();
      return;
    }
    Wait wait = new Wait(new HashSet<>(entries), then);
    for (NodeKey key : wait.missing()) {
      List<Wait> waiting = waits.computeIfAbsent(key, k -> new ArrayList<>(1));
      if (waiting.isEmpty()) {
        core.emit(new StoreEffect.ReadDetails(key.lock(), key.name()));
      }
      waiting.add(wait);
    }
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
        wait.then().run();
      }
    }
  }
}
