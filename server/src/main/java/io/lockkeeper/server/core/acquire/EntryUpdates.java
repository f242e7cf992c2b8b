package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.state.CoreState;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Changes of entries that are under way. The store answers every one of them in a bounded time. */
public final class EntryUpdates {

  private final CoreState core;
  private final Map<Long, Consumer<EntryUpdate.Outcome>> underWay = new HashMap<>();
  private long numbers;

  /** Gathers the answers of several updates that belong together. */
  private static final class Gathering {
    private final int count;
    private final Consumer<Map<NodeKey, EntryUpdate.Outcome>> then;
    private final Map<NodeKey, EntryUpdate.Outcome> outcomes = new LinkedHashMap<>();

    Gathering(int count, Consumer<Map<NodeKey, EntryUpdate.Outcome>> then) {
      this.count = count;
      this.then = then;
    }

    void add(NodeKey key, EntryUpdate.Outcome outcome) {
      outcomes.put(key, outcome);
      if (outcomes.size() == count) {
        then.accept(outcomes);
      }
    }
  }

  public EntryUpdates(CoreState core) {
    this.core = core;
  }

  /** Changes an entry of ours or of others; nobody waits for what comes of it. */
  public void send(NodeKey entry, EntryUpdate update) {
    send(Map.of(entry, update), outcomes -> {});
  }

  /** Changes several entries, and calls {@code then} with what came of each. */
  public void send(
      Map<NodeKey, EntryUpdate> updates, Consumer<Map<NodeKey, EntryUpdate.Outcome>> then) {
    if (updates.isEmpty()) {
      then.accept(Map.of());
      return;
    }
    Gathering gathering = new Gathering(updates.size(), then);
    updates.forEach((key, update) -> send(key, update, gathering));
  }

  private void send(NodeKey key, EntryUpdate update, Gathering gathering) {
    Optional<EntryName> name = EntryName.parse(key.name());
    if (name.isEmpty()) {
      gathering.add(key, EntryUpdate.Outcome.GONE);
      return;
    }
    underWay.put(++numbers, outcome -> gathering.add(key, outcome));
    core.emit(new StoreEffect.UpdateEntry(numbers, key.lock(), name.get(), update));
  }

  /** Returns the worst that came of several updates. */
  public static EntryUpdate.Outcome worst(Map<NodeKey, EntryUpdate.Outcome> outcomes) {
    return outcomes.values().stream()
        .max(Comparator.naturalOrder())
        .orElse(EntryUpdate.Outcome.DONE);
  }

  public void onAnswered(UpdateEvent.EntryUpdateAnswered answer) {
    Optional.ofNullable(underWay.remove(answer.number()))
        .ifPresent(then -> then.accept(answer.outcome()));
  }
}
