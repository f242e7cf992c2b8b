package io.lockkeeper.server.core;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Changes of entries that are under way. The store answers every one of them in a bounded time. */
final class Amendments {

  private final World world;
  private final Map<Long, Consumer<Amendment.Outcome>> underWay = new HashMap<>();
  private long numbers;

  /** Counts the answers of several amendments that belong together. */
  private static final class Tally {
    private final Consumer<Amendment.Outcome> then;
    private int missing;
    private Amendment.Outcome worst = Amendment.Outcome.DONE;

    Tally(int missing, Consumer<Amendment.Outcome> then) {
      this.missing = missing;
      this.then = then;
    }

    void add(Amendment.Outcome outcome) {
      worst = outcome.compareTo(worst) > 0 ? outcome : worst;
      missing--;
      if (missing == 0) {
        then.accept(worst);
      }
    }
  }

  Amendments(World world) {
    this.world = world;
  }

  /**
   * Makes the same change to several entries of ours or of others, and calls {@code then} with the
   * worst that came of it.
   */
  void send(List<NodeKey> entries, Amendment amendment, Consumer<Amendment.Outcome> then) {
    Map<NodeKey, Amendment> amendments = new LinkedHashMap<>();
    entries.forEach(key -> amendments.put(key, amendment));
    send(amendments, then);
  }

  /** Changes several entries, and calls {@code then} with the worst that came of it. */
  void send(Map<NodeKey, Amendment> amendments, Consumer<Amendment.Outcome> then) {
    if (amendments.isEmpty()) {
      then.accept(Amendment.Outcome.DONE);
      return;
    }
    Tally tally = new Tally(amendments.size(), then);
    amendments.forEach((key, amendment) -> send(key, amendment, tally));
  }

  private void send(NodeKey key, Amendment amendment, Tally tally) {
    Optional<EntryName> name = EntryName.parse(key.name());
    if (name.isEmpty()) {
      tally.add(Amendment.Outcome.GONE);
      return;
    }
    underWay.put(++numbers, tally::add);
    world.emit(new Effect.Amend(numbers, key.lock(), name.get(), amendment));
  }

  void onAnswered(ErrandEvent.AmendmentAnswered answer) {
    Optional.ofNullable(underWay.remove(answer.amendment()))
        .ifPresent(then -> then.accept(answer.outcome()));
  }
}
