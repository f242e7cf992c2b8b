package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.EntryName;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A store in memory that answers when it is told to: at once while it {@linkplain #flow flows}, and
 * otherwise one request at a time. The contract test holds it to the real one.
 */
final class FakeLockStore implements LockStore {

  private static final long TIMEOUT_NANOS = 30_000_000_000L;

  private final Deque<Runnable> held = new ArrayDeque<>();
  private final Map<LockName, Integer> counters = new HashMap<>();
  private final Map<LockName, Map<String, Stored>> queues = new HashMap<>();
  private final Set<SessionKey> open = new HashSet<>();
  private Consumer<StoreEvent> events = event -> {};
  private boolean flowing = true;
  private long zxid = 0x1_0000_0000L;

  private record Stored(EntryDetails details, long czxid, SessionKey session) {}

  /** Answers everything at once from now on, beginning with what was held back. */
  synchronized void flow() {
    flowing = true;
    while (!held.isEmpty()) {
      held.removeFirst().run();
    }
  }

  /** Holds every answer back from now on. */
  synchronized void hold() {
    flowing = false;
  }

  synchronized int heldBack() {
    return held.size();
  }

  /** Tells something that nobody asked for. */
  synchronized void tell(StoreEvent event) {
    events.accept(event);
  }

  /** Adds an entry of somebody who does not ask through this store. */
  synchronized void addForeign(LockName lock, String text, EntryDetails details) {
    EntryName name = EntryName.parse(text).orElseThrow();
    queues
        .computeIfAbsent(lock, l -> new HashMap<>())
        .put(text, new Stored(details, ++zxid, new SessionKey(0)));
    events.accept(new StoreEvent.EntryAppeared(lock, name, zxid));
  }

  synchronized int entries(LockName lock) {
    return queues.getOrDefault(lock, Map.of()).size();
  }

  private void act(Runnable action) {
    if (flowing) {
      action.run();
    } else {
      held.addLast(action);
    }
  }

  @Override
  public synchronized void start(Consumer<StoreEvent> listener) {
    events = listener;
    act(
        () -> {
          events.accept(new StoreEvent.RebuildStarted(Set.of()));
          events.accept(new StoreEvent.MirrorCurrent());
        });
  }

  @Override
  public synchronized void openSession(SessionKey session) {
    act(
        () -> {
          open.add(session);
          events.accept(new StoreEvent.SessionOpened(session, TIMEOUT_NANOS, System.nanoTime()));
        });
  }

  @Override
  public synchronized void closeSession(SessionKey session) {
    act(
        () -> {
          open.remove(session);
          queues.forEach(
              (lock, entries) ->
                  List.copyOf(entries.entrySet()).stream()
                      .filter(e -> e.getValue().session().equals(session))
                      .forEach(e -> vanish(lock, e.getKey())));
          events.accept(new StoreEvent.SessionEnded(session, false));
        });
  }

  private void vanish(LockName lock, String entry) {
    if (queues.getOrDefault(lock, new HashMap<>()).remove(entry) != null) {
      EntryName name = EntryName.parse(entry).orElseThrow();
      events.accept(new StoreEvent.EntryVanished(lock, name, ++zxid));
    }
  }

  @Override
  public synchronized void proveSession(SessionKey session) {
    long sent = System.nanoTime();
    act(() -> events.accept(new StoreEvent.SessionProved(session, sent)));
  }

  @Override
  public synchronized void createEntries(
      SessionKey session, UUID id, List<NewEntry> wanted, EntryDetails details) {
    act(
        () -> {
          zxid++;
          List<StoreEvent.CreatedEntry> created = new ArrayList<>();
          for (NewEntry entry : wanted) {
            int sequence = counters.merge(entry.lock(), 1, Integer::sum) - 1;
            String text = EntryName.prefix(id, entry.mode()) + String.format("%010d", sequence);
            EntryName name = EntryName.parse(text).orElseThrow();
            queues
                .computeIfAbsent(entry.lock(), l -> new HashMap<>())
                .put(text, new Stored(details, zxid, session));
            created.add(new StoreEvent.CreatedEntry(entry.lock(), name, zxid, 0));
            events.accept(new StoreEvent.EntryAppeared(entry.lock(), name, zxid));
          }
          events.accept(new StoreEvent.EntriesCreated(id, created));
        });
  }

  @Override
  public synchronized void deleteEntries(SessionKey session, UUID id, List<EntryRef> entries) {
    act(
        () -> {
          entries.forEach(entry -> vanish(entry.lock(), entry.entry()));
          events.accept(new StoreEvent.EntriesDeleted(id));
        });
  }

  @Override
  public synchronized void recordLease(
      SessionKey session, LeaseId lease, long ttlMillis, String holder, String secretHash) {
    act(() -> events.accept(new StoreEvent.LeaseRecorded(lease)));
  }

  @Override
  public synchronized void eraseLease(SessionKey session, LeaseId lease) {
    act(() -> events.accept(new StoreEvent.LeaseErased(lease)));
  }

  @Override
  public synchronized void barrier(long barrier) {
    act(() -> events.accept(new StoreEvent.BarrierPassed(barrier)));
  }

  @Override
  public synchronized void readDetails(LockName lock, String entry) {
    act(
        () ->
            events.accept(
                new StoreEvent.DetailsRead(
                    lock,
                    entry,
                    Optional.ofNullable(queues.getOrDefault(lock, Map.of()).get(entry))
                        .map(s -> new StoreEvent.ReadEntry(s.details(), s.czxid(), 0)))));
  }

  @Override
  public int pathBytes(LockName lock, Mode mode) {
    return lock.encoded().length() + 80;
  }

  @Override
  public int leasePathBytes() {
    return 60;
  }

  @Override
  public synchronized void stop() {
    flowing = false;
    held.clear();
  }
}
