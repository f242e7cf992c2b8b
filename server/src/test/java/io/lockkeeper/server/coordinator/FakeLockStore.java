package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.Amendment;
import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.EntryName;
import io.lockkeeper.server.core.EntryRef;
import io.lockkeeper.server.core.ErrandEvent;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.MarkerName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.PlannedEntry;
import io.lockkeeper.server.core.SessionEvent;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
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
  private final Set<SessionKey> open = new HashSet<>();
  private final FakeLockStoreQueues queues = new FakeLockStoreQueues(this::tell);
  private Consumer<StoreEvent> events = event -> {};
  private boolean flowing = true;

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
    queues.addForeign(lock, text, details);
  }

  /** Overwrites an entry's data as a whole, as Curator's Revoker does. */
  synchronized void revokeAsCuratorDoes(LockName lock, String entry) {
    queues.revoke(lock, entry);
  }

  synchronized int entries(LockName lock) {
    return queues.entries(lock);
  }

  /** Returns the markers of a lock. */
  synchronized Set<String> markers(LockName lock) {
    return queues.markers(lock);
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
          tell(new StoreEvent.RebuildStarted(Set.of()));
          tell(new StoreEvent.MirrorCurrent());
        });
  }

  @Override
  public synchronized void openSession(SessionKey session) {
    act(
        () -> {
          open.add(session);
          tell(new SessionEvent.SessionOpened(session, TIMEOUT_NANOS, System.nanoTime()));
        });
  }

  @Override
  public synchronized void closeSession(SessionKey session) {
    act(
        () -> {
          open.remove(session);
          tell(new SessionEvent.SessionEnded(session, queues.owns(session)));
        });
  }

  @Override
  public synchronized void proveSession(SessionKey session) {
    long sent = System.nanoTime();
    act(() -> tell(new SessionEvent.SessionProved(session, sent)));
  }

  @Override
  public synchronized void createEntries(
      SessionKey session,
      UUID id,
      List<PlannedEntry> wanted,
      EntryDetails details,
      int lockDelayMillis) {
    act(() -> tell(queues.create(session, id, wanted, details, lockDelayMillis)));
  }

  @Override
  public synchronized void deleteEntries(SessionKey session, UUID id, List<EntryRef> entries) {
    act(
        () -> {
          queues.delete(entries);
          tell(new StoreEvent.EntriesDeleted(id));
        });
  }

  @Override
  public synchronized void recordLease(
      SessionKey session, LeaseId lease, long ttlMillis, String holder, String secretHash) {
    act(() -> tell(new StoreEvent.LeaseRecorded(lease)));
  }

  @Override
  public synchronized void eraseLease(SessionKey session, LeaseId lease) {
    act(() -> tell(new StoreEvent.LeaseErased(lease)));
  }

  @Override
  public synchronized void barrier(long barrier) {
    act(() -> tell(new StoreEvent.BarrierPassed(barrier)));
  }

  @Override
  public synchronized void readDetails(LockName lock, String entry) {
    act(() -> tell(new StoreEvent.DetailsRead(lock, entry, queues.read(lock, entry))));
  }

  @Override
  public synchronized void amend(long number, LockName lock, EntryName entry, Amendment amendment) {
    act(
        () ->
            tell(new ErrandEvent.AmendmentAnswered(number, queues.amend(lock, entry, amendment))));
  }

  @Override
  public synchronized void setLimit(long number, LockName lock, OptionalInt limit) {
    act(
        () -> {
          queues.setLimit(lock, limit);
          tell(new ErrandEvent.LimitAnswered(number, true));
        });
  }

  @Override
  public synchronized void removeGuard(LockName lock, MarkerName.Guard guard) {
    act(() -> queues.removeGuard(lock, guard));
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

  @Override
  public void adoptSession(SessionKey session, String claim) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void locate(
      LeaseId lease,
      java.util.function.Consumer<java.util.Optional<io.lockkeeper.server.coordinator.Whereabouts>>
          answer) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void suspect(String id) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void watchPeers(
      java.util.function.Consumer<java.util.List<io.lockkeeper.server.coordinator.Peer>> listener) {
    listener.accept(java.util.List.of());
  }

  @Override
  public void leave() {
    throw new UnsupportedOperationException();
  }
}
