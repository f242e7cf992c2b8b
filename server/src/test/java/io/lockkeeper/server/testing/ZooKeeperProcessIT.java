package io.lockkeeper.server.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The harness itself. */
final class ZooKeeperProcessIT {

  @TempDir Path directory;

  @Test
  void dataOutlivesAKill() throws Exception {
    try (ZooKeeperProcess server = ZooKeeperProcess.in(directory).start()) {
      // Given
      try (ZooKeeper client = connect(server.connectString())) {
        client.create("/kept", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      }
      // When
      server.restart();
      // Then
      try (ZooKeeper client = connect(server.connectString())) {
        assertThat(client.exists("/kept", false)).isNotNull();
      }
    }
  }

  @Test
  void cutAfterLetsTheServerDoTheRequestAndCutBeforeDoesNot() throws Exception {
    try (ZooKeeperProcess server = ZooKeeperProcess.in(directory).start();
        ZooKeeperProxy proxy = new ZooKeeperProxy(server.port());
        ZooKeeper client = connect(proxy.connectString());
        ZooKeeper truth = connect(server.connectString())) {
      // Given
      proxy.at(1, r -> r.contains("/before"), ZooKeeperProxy.Action.CUT_BEFORE);
      proxy.at(1, r -> r.contains("/after"), ZooKeeperProxy.Action.CUT_AFTER);
      // When
      int before = create(client, "/before").get(10, TimeUnit.SECONDS);
      // What is asked while the client still clears away its old connection is never sent.
      await().ignoreExceptions().until(() -> client.exists("/", false) != null);
      int after = create(client, "/after").get(10, TimeUnit.SECONDS);
      // Then
      assertThat(before).isEqualTo(KeeperException.Code.CONNECTIONLOSS.intValue());
      assertThat(after).isEqualTo(KeeperException.Code.CONNECTIONLOSS.intValue());
      // The cut may reach the client before the request has been carried out.
      await().until(() -> truth.exists("/after", false) != null);
      assertThat(truth.exists("/before", false)).isNull();
      assertThat(proxy.pendingRules()).isZero();
    }
  }

  @Test
  void pausedServerDoesNotAnswerUntilItGoesOn() throws Exception {
    try (ZooKeeperProcess server = ZooKeeperProcess.in(directory).start();
        ZooKeeper client = connect(server.connectString())) {
      // Given
      server.pause();
      CompletableFuture<Integer> created = create(client, "/late");
      assertThat(created).isNotDone();
      // When
      server.resume();
      // Then
      assertThat(created.get(10, TimeUnit.SECONDS)).isZero();
    }
  }

  private static CompletableFuture<Integer> create(ZooKeeper client, String path) {
    CompletableFuture<Integer> done = new CompletableFuture<>();
    client.create(
        path,
        new byte[0],
        ZooDefs.Ids.OPEN_ACL_UNSAFE,
        CreateMode.PERSISTENT,
        (rc, p, ctx, name) -> done.complete(rc),
        null);
    return done;
  }

  private static ZooKeeper connect(String to) throws Exception {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    ZooKeeper client =
        new ZooKeeper(
            to,
            10_000,
            event -> {
              if (event.getState()
                  == org.apache.zookeeper.Watcher.Event.KeeperState.SyncConnected) {
                connected.complete(null);
              }
            });
    connected.get(10, TimeUnit.SECONDS);
    return client;
  }
}
