package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * A deletion that was sent long ago and arrives when the directory has been removed, made again and
 * filled by others whose sequence numbers begin again at zero.
 */
final class DelayedDeleteIT {

  private static final String LOCK = "delayed-delete/lock";

  @Test
  void deletionThatArrivesAfterTheDirectoryWasMadeAnewHitsNobodyElse() throws Exception {
    // Given
    try (ZooKeeperProcess zookeeper = startReapingZooKeeper();
        ZooKeeperProxy network = new ZooKeeperProxy(zookeeper.port());
        Znodes znodes = Znodes.at(zookeeper.connectString());
        ServerProcess server =
            ServerProcess.start(network.connectString(), Rig.shortSessions(20))) {
      ManagedChannel channel = server.connect();
      Asking holder = Asking.forLock(channel, LOCK);
      holder.awaitGrant();
      String entry = znodes.entries(LOCK).get(0);
      network.at(1, request -> request.isMultiWith(OpCode.delete), Action.HOLD);
      CompletableFuture<?> release = CompletableFuture.runAsync(holder::release);
      Awaitility.await("deletion on its way").until(() -> network.pendingRules() == 0);

      // When: the entry goes, the directory after it, and somebody queues in a new one
      znodes.delete(znodes.pathOf(LOCK) + "/" + entry);
      Awaitility.await("removal of the directory")
          .atMost(Duration.ofSeconds(15))
          .until(() -> !znodes.exists(znodes.pathOf(LOCK)));
      String foreign = znodes.queueForeignEntry(LOCK);
      network.letGo();
      release.get(20, TimeUnit.SECONDS);

      // Then
      assertThat(sequence(foreign)).as("the counter began again").isEqualTo(sequence(entry));
      Asking waiter = Asking.forLock(channel, LOCK);
      waiter.await(EventCase.QUEUED);
      assertThat(znodes.exists(foreign)).isTrue();
      znodes.delete(foreign);
      waiter.awaitGrant();
      waiter.release();
    }
  }

  private static ZooKeeperProcess startReapingZooKeeper() {
    return ZooKeeperProcess.in(Scratch.directory("zookeeper"))
        .configuration("tickTime", "500")
        .configuration("syncLimit", "2")
        .containersReapedEvery(Duration.ofMillis(100))
        .start();
  }

  private static String sequence(String node) {
    return node.substring(node.length() - 10);
  }
}
