package io.lockkeeper.server.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class EventRelayTest {

  private final StoreExecutor executor = new StoreExecutor();
  private final List<String> told = new CopyOnWriteArrayList<>();
  private final EventRelay relay = new EventRelay(executor, new ToldListener(told));

  @AfterEach
  void stop() throws Exception {
    executor.stop(1_000);
  }

  private void happen(String path) {
    relay.process(new WatchedEvent(EventType.NodeCreated, KeeperState.SyncConnected, path));
  }

  private void become(KeeperState state) {
    relay.process(new WatchedEvent(EventType.None, state, null));
  }

  @Test
  void eventsAndTasksKeepTheirOrderWhileOthersAreAtWork() {
    // When: this thread is at work, and so runs all of it afterwards
    executor.execute(
        () -> {
          become(KeeperState.SyncConnected);
          happen("/a");
          executor.execute(() -> told.add("listing"));
          happen("/b");
          become(KeeperState.Disconnected);
          become(KeeperState.Expired);
        });
    // Then
    assertThat(told).containsExactly("connected", "/a", "listing", "/b", "disconnected", "expired");
  }

  @Test
  void silencedRelayDropsWhatWaits() {
    // When
    executor.execute(
        () -> {
          happen("/a");
          relay.silence();
        });
    // Then
    assertThat(told).isEmpty();
  }

  @Test
  void authenticationThatCannotBeginIsOneThatFailed() {
    // When: as ZooKeeper's client says it where it finds no mechanism of SASL, or no ticket
    relay.process(new WatchedEvent(EventType.None, null, null));
    // Then
    assertThat(told).containsExactly("refused");
  }
}
