package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.state.CoreState;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Changes of entries that are under way. The store answers every one of them in a bounded time. */
public final class EntryUpdates {

  private final CoreState core;
  private final Map<Long, Consumer<EntryUpdate.Outcome>> underWay = new HashMap<>();
  private long numbers;

  /** Counts the answers of several updates that belong together. */
  private static final class Tally {
    private final Consumer<EntryUpdate.Outcome> then;
    private int missing;
    private EntryUpdate.Outcome worst = EntryUpdate.Outcome.DONE;

    Tally(int missing, Consumer<EntryUpdate.Outcome> then) {
      this.missing = missing;
      this.then = then;
    }

    void add(EntryUpdate.Outcome outcome) {
      worst = outcome.compareTo(worst) > 0 ? outcome : worst;
      missing--;
      if (missing == 0) {
        then.accept(worst);
      }
    }
  }

  public EntryUpdates(CoreState core) {
    this.core = core;
  }

  /** Changes an entry of ours or of others; nobody waits for what comes of it. */
  public void send(NodeKey entry, EntryUpdate update) {
    send(Map.of(entry, update), outcome -> {});
  }

  /** Changes several entries, and calls {@code then} with the worst that came of it. */
  public void send(Map<NodeKey, EntryUpdate> updates, Consumer<EntryUpdate.Outcome> then) {
    if (updates.isEmpty()) {
      then.accept(EntryUpdate.Outcome.DONE);
      return;
    }
    Tally tally = new Tally(updates.size(), then);
    updates.forEach((key, update) -> send(key, update, tally));
  }

  private void send(NodeKey key, EntryUpdate update, Tally tally) {
    Optional<EntryName> name = EntryName.parse(key.name());
    if (name.isEmpty()) {
      tally.add(EntryUpdate.Outcome.GONE);
      return;
    }
    underWay.put(++numbers, tally::add);
    core.emit(new StoreEffect.UpdateEntry(numbers, key.lock(), name.get(), update));
  }

  public void onAnswered(UpdateEvent.EntryUpdateAnswered answer) {
    Optional.ofNullable(underWay.remove(answer.number()))
        .ifPresent(then -> then.accept(answer.outcome()));
  }
}
