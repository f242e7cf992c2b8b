package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/** Keeps all events of a store in order, and the mirror that they make. */
public final class RecordedEvents implements Consumer<StoreEvent> {

  private final List<StoreEvent> events = new ArrayList<>();
  private final Map<LockName, Set<String>> queues = new HashMap<>();
  private final Map<LockName, Set<String>> markers = new HashMap<>();
  private boolean current;

  @Override
  public synchronized void accept(StoreEvent event) {
    events.add(event);
    if (event instanceof StoreEvent.EntryAppeared e) {
      queue(e.lock()).add(e.entry().text());
    } else if (event instanceof StoreEvent.EntryVanished e) {
      queue(e.lock()).remove(e.entry().text());
    } else if (event instanceof StoreEvent.RebuildStarted e) {
      queues.keySet().retainAll(e.locks());
      markers.keySet().retainAll(e.locks());
    } else if (event instanceof StoreEvent.QueueListed e) {
      Set<String> queue = queue(e.lock());
      queue.clear();
      e.entries().forEach(entry -> queue.add(entry.name().text()));
      Set<String> marked = marked(e.lock());
      marked.clear();
      e.markers().forEach(marker -> marked.add(marker.text()));
    } else if (event instanceof StoreEvent.MarkerAppeared e) {
      marked(e.lock()).add(e.marker().text());
    } else if (event instanceof StoreEvent.MarkerVanished e) {
      marked(e.lock()).remove(e.marker().text());
    } else if (event instanceof StoreEvent.MirrorStale) {
      current = false;
    } else if (event instanceof StoreEvent.MirrorCurrent) {
      current = true;
    }
  }

  /** Fails whoever's thread it is: no store fails in tests of stores. */
  public static void onFailure(Throwable cause) {
    throw new AssertionError("the store failed", cause);
  }

  private Set<String> queue(LockName lock) {
    return queues.computeIfAbsent(lock, any -> new TreeSet<>());
  }

  private Set<String> marked(LockName lock) {
    return markers.computeIfAbsent(lock, any -> new TreeSet<>());
  }

  /** Returns the queues that are not empty. */
  public synchronized Map<LockName, Set<String>> mirror() {
    return withoutEmpty(queues);
  }

  /** Returns the markers of the locks that have any. */
  public synchronized Map<LockName, Set<String>> markers() {
    return withoutEmpty(markers);
  }

  private static Map<LockName, Set<String>> withoutEmpty(Map<LockName, Set<String>> byLock) {
    Map<LockName, Set<String>> copy = new TreeMap<>();
    byLock.forEach(
        (lock, queue) -> {
          if (!queue.isEmpty()) {
            copy.put(lock, new TreeSet<>(queue));
          }
        });
    return copy;
  }

  /** Returns whether the mirror is current. */
  public synchronized boolean isCurrent() {
    return current;
  }

  /** Returns all events so far. */
  public synchronized List<StoreEvent> all() {
    return List.copyOf(events);
  }

  /** Returns all events of a kind so far. */
  public synchronized <T extends StoreEvent> List<T> all(Class<T> kind) {
    return events.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /** Waits for the first event of a kind that fits, looking back at all that have come. */
  public <T extends StoreEvent> T await(Class<T> kind, Predicate<T> fits) {
    return Awaitility.await(kind.getSimpleName())
        .pollInterval(Duration.ofMillis(5))
        .until(() -> all(kind).stream().filter(fits).findFirst(), found -> found.isPresent())
        .orElseThrow();
  }

  /** Waits for the first event of a kind. */
  public <T extends StoreEvent> T await(Class<T> kind) {
    return await(kind, any -> true);
  }

  /** Waits until the mirror is current. */
  public void awaitCurrent() {
    Awaitility.await("mirror is current").pollInterval(Duration.ofMillis(5)).until(this::isCurrent);
  }
}
