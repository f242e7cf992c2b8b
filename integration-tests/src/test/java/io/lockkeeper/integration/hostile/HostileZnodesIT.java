package io.lockkeeper.integration.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Nodes of others under our root, or corrupt ones of ours: each stays, is logged once, and changes
 * nothing for anybody else. What was planted stays for the cases after it.
 */
final class HostileZnodesIT {

  private static final String ROOT = "/lockkeeper";
  private static final long ANSWER_SECONDS = 60;

  private static ZooKeeperProcess zookeeper;
  private static ServerProcess survivor;
  private static ZooKeeper client;

  @BeforeAll
  static void start() throws Exception {
    zookeeper = Rig.startZooKeeper();
    survivor = ServerProcess.start(zookeeper.connectString(), Rig.shortSessions(6));
    CompletableFuture<Void> connected = new CompletableFuture<>();
    client =
        new ZooKeeper(
            zookeeper.connectString(),
            40_000,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.complete(null);
              }
            });
    connected.get(1, TimeUnit.MINUTES);
  }

  @AfterAll
  static void stop() throws Exception {
    client.close();
    survivor.close();
    zookeeper.close();
  }

  static Map<String, List<Planted>> planted() {
    return Planted.all().stream().collect(Collectors.groupingBy(Planted::directory));
  }

  static Set<String> directories() {
    return planted().keySet();
  }

  @ParameterizedTest
  @MethodSource("directories")
  void nodeOfOthersIsToldOnceStaysAndHarmsNobody(String directory) throws Exception {
    // Given
    List<Planted> all = planted().get(directory);
    try (ServerProcess owner =
        ServerProcess.start(zookeeper.connectString(), Rig.shortSessions(6))) {
      ManagedChannel at = owner.connect();
      ManagedChannel other = survivor.connect();
      String lock = "fine/" + directory;
      String lease =
          LeaseServiceGrpc.newBlockingStub(at)
              .openLease(OpenLeaseRequest.getDefaultInstance())
              .getLeaseId();
      long first = Asking.with(at, Asking.under(lease, "r", lock)).awaitToken();
      Asking second = Asking.forLock(other, lock);
      // When
      for (Planted planted : all) {
        planted.plant(client, ROOT);
      }
      // Then
      assertOthersAreServedInOrder(at, other, "other/" + directory);
      assertQuestionsAreAnswered(at, lease);
      assertQuestionsAreAnswered(other, lease);
      all.forEach(planted -> assertNobodysLeaseIsAnswered(planted, other));
      owner.kill();
      assertThat(lease(other, lease).getAcquisitionsList()).hasSize(1);
      assertThat(Asking.holderTokens(other, lock)).containsExactly(first);
      assertOthersAreServedInOrder(other, other, "after/" + directory);
      assertThat(second.events().arrivals()).noneMatch(answer -> answer.value().hasGranted());
      second.hangUp();
      for (Planted planted : all) {
        assertThat(planted.paths(ROOT)).as(planted.what()).allMatch(HostileZnodesIT::exists);
        assertLogIsShort(owner.output(), planted);
        assertLogIsShort(survivor.output(), planted);
      }
    }
  }

  private static boolean exists(String path) {
    try {
      return client.exists(path, false) != null;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void assertOthersAreServedInOrder(
      ManagedChannel one, ManagedChannel two, String lock) {
    Asking first = Asking.forLock(one, lock);
    long token = first.awaitToken();
    Asking second = Asking.forLock(two, lock);
    second.awaitHolder();
    first.release();
    assertThat(second.awaitToken()).isGreaterThan(token);
    second.release();
  }

  private static LeaseState lease(ManagedChannel channel, String lease) {
    return LeaseServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
        .getLease(GetLeaseRequest.newBuilder().setLeaseId(lease).build())
        .getLease();
  }

  private static void assertQuestionsAreAnswered(ManagedChannel channel, String lease) {
    assertThat(lease(channel, lease).getAcquisitionsList()).hasSize(1);
    assertThat(
            LockServiceGrpc.newBlockingStub(channel)
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .listLocks(ListLocksRequest.getDefaultInstance())
                .getLocksList())
        .isNotEmpty();
    var unused =
        LeaseServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
            .listLeases(ListLeasesRequest.getDefaultInstance());
  }

  /** A record that is nobody's lease is answered as such, soon. */
  private static void assertNobodysLeaseIsAnswered(Planted planted, ManagedChannel channel) {
    List<String> leases =
        planted.paths(ROOT).stream()
            .filter(path -> path.matches(ROOT + "/leases/[0-9a-f]{32}"))
            .map(path -> path.substring(path.length() - 32))
            .toList();
    for (String id : leases) {
      StatusRuntimeException refusal =
          org.junit.jupiter.api.Assertions.assertThrows(
              StatusRuntimeException.class, () -> lease(channel, id));
      assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    }
  }

  private static void assertLogIsShort(String log, Planted planted) {
    for (String path : planted.paths(ROOT)) {
      assertThat(log.lines().filter(line -> line.contains("path=\"" + path + "\"")).count())
          .as(path)
          .isLessThanOrEqualTo(1);
    }
    assertThat(log)
        .doesNotContain("\tat ")
        .doesNotContain("ending the process")
        .doesNotContain("a thread has died")
        .doesNotContain("\u001b[2J");
  }
}
