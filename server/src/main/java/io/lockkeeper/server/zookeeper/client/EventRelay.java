package io.lockkeeper.server.zookeeper.client;

import java.util.Objects;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/** Carries one handle's events to the store's thread, in order, until it is silenced. */
final class EventRelay implements Watcher {

  private final StoreExecutor executor;
  private final HandleListener listener;
  private volatile boolean silenced;

  EventRelay(StoreExecutor executor, HandleListener listener) {
    this.executor = executor;
    this.listener = listener;
  }

  /** Drops all events from now on, those included that have not reached the listener yet. */
  void silence() {
    silenced = true;
  }

  @Override
  public void process(WatchedEvent event) {
    executor.execute(() -> tell(event));
  }

  private void tell(WatchedEvent event) {
    if (silenced) {
      return;
    }
    if (event.getType() != Event.EventType.None) {
      listener.onNode(event);
      return;
    }
    // A handle that cannot even begin with SASL is dead, and says so without a state.
    switch (Objects.requireNonNullElse(event.getState(), Event.KeeperState.AuthFailed)) {
      case SyncConnected -> listener.onConnected();
      case Disconnected -> listener.onDisconnected();
      // Neither leaves the handle alive; the session may be.
      case Expired -> listener.onExpired();
      case AuthFailed -> listener.onAuthFailed();
      default -> {
        // SaslAuthenticated, ConnectedReadOnly (never asked for) and Closed change nothing here.
      }
    }
  }
}
