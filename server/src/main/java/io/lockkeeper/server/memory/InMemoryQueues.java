package io.lockkeeper.server.memory;

import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;

/** The queues of an {@link InMemoryLockStore}: tells what the mirror sees, returns the answers. */
final class InMemoryQueues {

  private static final InMemorySession FOREIGN = new InMemorySession("", "");

  private final Consumer<StoreEvent> events;
  private final Map<LockName, QueueNodes> directories = new HashMap<>();
  private final Map<LockName, Runnable> whenFree = new HashMap<>();
  private long zxid = 0x1_0000_0000L;

  private static final class QueueNodes {
    private final Map<String, Stored> entries = new TreeMap<>();
    private final Map<String, MarkerName> markers = new TreeMap<>();
    private int counter;
  }

  private record Stored(StoreEvent.ReadEntry data, InMemorySession session) {
    Stored with(EntryDetails details) {
      return with(details, data.index(), data.ordinal(), data.keptToken());
    }

    Stored with(EntryDetails details, int index, int ordinal, Optional<FencingToken> kept) {
      return new Stored(
          new StoreEvent.ReadEntry(details, data.czxid(), index, ordinal, kept), session);
    }
  }

  InMemoryQueues(Consumer<StoreEvent> events) {
    this.events = events;
  }

  private QueueNodes directory(LockName lock) {
    return directories.computeIfAbsent(lock, any -> new QueueNodes());
  }

  private Optional<Stored> find(LockName lock, String entry) {
    return Optional.ofNullable(directory(lock).entries.get(entry));
  }

  int entries(LockName lock) {
    return directory(lock).entries.size();
  }

  Optional<StoreEvent.ReadEntry> read(LockName lock, String entry) {
    return find(lock, entry).map(Stored::data);
  }

  void addForeign(LockName lock, String text, EntryDetails details) {
    zxid++;
    StoreEvent.ReadEntry data = new StoreEvent.ReadEntry(details, zxid, 0, Optional.empty());
    add(lock, EntryName.parse(text).orElseThrow(), new Stored(data, FOREIGN));
  }

  private void add(LockName lock, EntryName name, Stored stored) {
    directory(lock).entries.put(name.text(), stored);
    events.accept(new StoreEvent.EntryAppeared(lock, name, zxid));
  }

  private void add(LockName lock, MarkerName marker) {
    directory(lock).markers.put(marker.text(), marker);
    events.accept(new StoreEvent.MarkerAppeared(lock, marker, zxid));
  }

  StoreEvent create(InMemorySession session, StoreEffect.CreateEntries effect) {
    UUID id = effect.id();
    List<PlannedEntry> wanted = effect.entries();
    for (PlannedEntry entry : wanted) {
      if (entry.beside().isPresent()
          && find(entry.lock(), entry.beside().get().entry().text()).isEmpty()) {
        return new StoreEvent.EntriesRefused(id, entry.lock() + " does not exist any more");
      }
      MarkerName.Guard guard = guardOf(effect);
      if (directory(entry.lock()).markers.containsKey(guard.text())) {
        return new StoreEvent.EntriesRefused(id, "somebody else removed it, and left its guard");
      }
    }
    zxid++;
    Map<LockName, Integer> indexes = new HashMap<>();
    List<StoreEvent.CreatedEntry> created = new ArrayList<>();
    for (int ordinal = 0; ordinal < wanted.size(); ordinal++) {
      PlannedEntry entry = wanted.get(ordinal);
      LockName lock = entry.lock();
      int index = indexes.merge(lock, 1, Integer::sum) - 1;
      int next = directory(lock).counter++;
      int sequence = entry.beside().map(other -> other.entry().sequence()).orElse(next);
      String text = EntryName.prefix(id, entry.mode()) + EntryName.suffix(sequence);
      EntryName name = EntryName.parse(text).orElseThrow();
      Optional<FencingToken> kept = entry.beside().map(PlannedEntry.Beside::token);
      StoreEvent.ReadEntry data =
          new StoreEvent.ReadEntry(effect.details(), zxid, index, ordinal, kept);
      add(lock, name, new Stored(data, session));
      created.add(new StoreEvent.CreatedEntry(lock, name, zxid, index));
      if (effect.lockDelayMillis() > 0) {
        directory(lock).counter++;
        add(lock, guardOf(effect));
      }
    }
    return new StoreEvent.EntriesCreated(id, created);
  }

  private static MarkerName.Guard guardOf(StoreEffect.CreateEntries effect) {
    return MarkerName.Guard.of(
        effect.id(), effect.lockDelayMillis(), effect.details().terms().guardAccount());
  }

  void delete(List<EntryRef> entries) {
    zxid++;
    for (EntryRef entry : entries) {
      entry.guard().flatMap(MarkerName::parse).ifPresent(guard -> vanish(entry.lock(), guard));
      vanish(entry.lock(), entry.entry());
    }
  }

  boolean owns(InMemorySession session) {
    return !entriesOf(session).isEmpty();
  }

  /** Returns the entries that a session owns. */
  List<AdoptedEntry> entriesOf(InMemorySession session) {
    List<AdoptedEntry> owned = new ArrayList<>();
    directories.forEach(
        (lock, directory) ->
            directory.entries.forEach(
                (text, stored) -> {
                  if (stored.session() == session) {
                    EntryName name = EntryName.parse(text).orElseThrow();
                    owned.add(new AdoptedEntry(lock, name, stored.data()));
                  }
                }));
    return owned;
  }

  private void vanish(LockName lock, String entry) {
    Optional<EntryName> first = first(lock);
    if (directory(lock).entries.remove(entry) != null) {
      EntryName name = EntryName.parse(entry).orElseThrow();
      events.accept(new StoreEvent.EntryVanished(lock, name, zxid));
      if (first.equals(Optional.of(name))) {
        Optional.ofNullable(whenFree.remove(lock)).ifPresent(Runnable::run);
      }
    }
  }

  private Optional<EntryName> first(LockName lock) {
    return directory(lock).entries.keySet().stream()
        .flatMap(text -> EntryName.parse(text).stream())
        .min(Comparator.comparingInt(EntryName::sequence));
  }

  /** Runs {@code action} when the first in the lock's queue has gone, once. */
  void whenFree(LockName lock, Runnable action) {
    whenFree.put(lock, action);
  }

  /** Deletes an entry, whoever owns it. */
  void remove(LockName lock, String entry) {
    zxid++;
    vanish(lock, entry);
  }

  /** Returns all that there is, as whoever begins to mirror it is told. */
  List<StoreEvent> listing() {
    List<StoreEvent> told = new ArrayList<>();
    told.add(new StoreEvent.RebuildStarted(Set.copyOf(directories.keySet())));
    directories.forEach(
        (lock, directory) ->
            told.add(
                new StoreEvent.QueueListed(
                    lock,
                    directory.entries.entrySet().stream()
                        .map(e -> listed(e.getKey(), e.getValue().data()))
                        .toList(),
                    List.copyOf(directory.markers.values()))));
    told.add(new StoreEvent.MirrorCurrent());
    return told;
  }

  private static StoreEvent.ListedEntry listed(String entry, StoreEvent.ReadEntry data) {
    EntryName name = EntryName.parse(entry).orElseThrow();
    return new StoreEvent.ListedEntry(name, Optional.of(data.czxid()), data.index());
  }

  private void vanish(LockName lock, MarkerName marker) {
    if (directory(lock).markers.remove(marker.text()) != null) {
      events.accept(new StoreEvent.MarkerVanished(lock, marker, zxid));
    }
  }

  EntryUpdate.Outcome update(StoreEffect.UpdateEntry effect) {
    LockName lock = effect.lock();
    EntryName entry = effect.entry();
    EntryUpdate update = effect.update();
    Optional<Stored> stored = find(lock, entry.text());
    if (stored.isEmpty()) {
      return EntryUpdate.Outcome.GONE;
    }
    if (update instanceof EntryUpdate.Remove) {
      zxid++;
      vanish(lock, entry.text());
    } else {
      change(lock, entry, updated(stored.get(), update));
    }
    return EntryUpdate.Outcome.DONE;
  }

  private static Stored updated(Stored stored, EntryUpdate update) {
    StoreEvent.ReadEntry data = stored.data();
    boolean ours = !data.details().leaseId().isEmpty();
    if (update instanceof EntryUpdate.Ask ask) {
      return ours ? stored.with(withAsk(data.details(), Optional.of(ask.ask()))) : revoked(stored);
    }
    if (update instanceof EntryUpdate.Describe describe) {
      Optional<RevocationRequest> known = describe.details().ask();
      return ours
          ? stored.with(
              with(
                  describe.details(), data.details().ask().or(() -> known), data.details().terms()))
          : stored.with(
              describe.details(), describe.index(), describe.ordinal(), describe.keptToken());
    }
    throw new IllegalArgumentException("not known here: " + update);
  }

  private static EntryDetails withAsk(EntryDetails old, Optional<RevocationRequest> ask) {
    return with(old, ask, old.terms());
  }

  private static EntryDetails with(
      EntryDetails old, Optional<RevocationRequest> ask, EntryTerms terms) {
    return new EntryDetails(
        old.leaseId(),
        old.requestId(),
        old.owner(),
        old.holder(),
        old.metadata(),
        old.streamBound(),
        old.unsearched(),
        old.needsMillis(),
        ask,
        terms);
  }

  private static Stored revoked(Stored stored) {
    RevocationRequest ask =
        new RevocationRequest(RevocationRequest.BY_CURATOR, "", "", Optional.empty(), false);
    return stored.with(EntryDetails.foreign("", Optional.of(ask)), 0, 0, Optional.empty());
  }

  private void change(LockName lock, EntryName name, Stored changed) {
    Optional<Stored> before =
        Optional.ofNullable(directory(lock).entries.put(name.text(), changed));
    if (!before.equals(Optional.of(changed))) {
      events.accept(new StoreEvent.EntryChanged(lock, name, ++zxid));
    }
  }

  void revoke(LockName lock, String entry) {
    Stored stored = find(lock, entry).orElseThrow();
    change(lock, EntryName.parse(entry).orElseThrow(), revoked(stored));
  }

  void setLimit(StoreEffect.SetLimit effect) {
    LockName lock = effect.lock();
    OptionalInt limit = effect.limit();
    List<MarkerName.Limit> limits =
        directory(lock).markers.values().stream()
            .filter(MarkerName.Limit.class::isInstance)
            .map(MarkerName.Limit.class::cast)
            .toList();
    boolean same = limits.stream().anyMatch(l -> limit.equals(OptionalInt.of(l.limit())));
    if (same) {
      return;
    }
    zxid++;
    if (limit.isPresent()) {
      String suffix = EntryName.suffix(directory(lock).counter++);
      String text = MarkerName.Limit.prefix(limit.getAsInt(), effect.account()) + suffix;
      add(lock, MarkerName.parse(text).orElseThrow());
    }
    limits.forEach(old -> vanish(lock, old));
  }

  void removeGuard(LockName lock, MarkerName.Guard guard) {
    zxid++;
    vanish(lock, guard);
  }
}
