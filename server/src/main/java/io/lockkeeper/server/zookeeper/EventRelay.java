package io.lockkeeper.server.zookeeper;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/**
 * Carries one handle's events to the store's thread, in order. Those that our own transactions
 * under way cause take their places in line and no more: whatever is handed to the thread next,
 * which is the answer at the latest, has the line told up to there first. Where the answer does not
 * come, as over a connection of its own that swallows it, the reaper's tick is what comes next.
 */
final class EventRelay implements Watcher, StoreThread.Line {

  private final StoreThread thread;
  private final HandleListener listener;
  private final OwnWrites own;
  private final Queue<WatchedEvent> line = new ConcurrentLinkedQueue<>();
  private final AtomicLong come = new AtomicLong();
  // Touched on the store's thread alone.
  private long told;
  private volatile boolean silenced;

  EventRelay(StoreThread thread, HandleListener listener, OwnWrites own) {
    this.thread = thread;
    this.listener = listener;
    this.own = own;
  }

  /** Drops all events from now on, those included that have not reached the listener yet. */
  void silence() {
    silenced = true;
  }

  @Override
  public void process(WatchedEvent event) {
    thread.attempt(() -> take(event));
  }

  private void take(WatchedEvent event) {
    line.add(event);
    long place = come.incrementAndGet();
    // Looked at after it is in line: whoever takes the write off after that hands in a task.
    if (!own.concerns(event.getPath())) {
      thread.execute(() -> tell(place));
    }
  }

  @Override
  public long length() {
    return come.get();
  }

  @Override
  public void tell(long upTo) {
    while (told < upTo) {
      told++;
      tell(line.remove());
    }
  }

  private void tell(WatchedEvent event) {
    if (silenced) {
      return;
    }
    if (event.getType() != Event.EventType.None) {
      listener.onNode(event);
      return;
    }
    switch (event.getState()) {
      case SyncConnected -> listener.onConnected();
      case Disconnected -> listener.onDisconnected();
      // Neither leaves the handle alive; the session may be.
      case Expired, AuthFailed -> listener.onExpired();
      default -> {
        // SaslAuthenticated, ConnectedReadOnly (never asked for) and Closed change nothing here.
      }
    }
  }
}
