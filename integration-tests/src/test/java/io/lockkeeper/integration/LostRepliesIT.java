package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.Timed;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.server.testing.Request;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import java.util.Random;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Connections to ZooKeeper that break just before a write arrives, or just before its answer does.
 */
final class LostRepliesIT {

  private static final int ROUNDS = 2;

  private static final Rig rig = Rig.shared();

  @AutoClose
  private static final ZooKeeperProxy network = new ZooKeeperProxy(rig.zookeeper().port());

  @AutoClose
  private static final ServerProcess server =
      ServerProcess.start(network.connectString(), "--root=/lost-replies");

  @AutoClose
  private static final Znodes znodes =
      Znodes.at(rig.zookeeper().connectString(), "/lost-replies/locks");

  private final ManagedChannel channel = server.connect();

  @BeforeEach
  void heal() {
    network.heal();
  }

  @ParameterizedTest
  @Tag("smoke")
  @EnumSource(names = {"CUT_BEFORE", "CUT_AFTER"})
  void createInDoubtBecomesExactlyOneEntry(Action action) {
    for (int round = 0; round < ROUNDS; round++) {
      // Given
      String lock = "lost/create-" + action + "-" + round;
      network.at(1, LostRepliesIT::createsAnEntry, action);

      // When
      Asking asking = Asking.forLock(channel, lock);
      asking.awaitGrant();

      // Then
      assertThat(znodes.entries(lock)).as(lock).hasSize(1);
      asking.release();
      assertThat(znodes.entries(lock)).as(lock).isEmpty();
    }
    assertThat(network.pendingRules()).isZero();
  }

  @ParameterizedTest
  @Tag("smoke")
  @EnumSource(names = {"CUT_BEFORE", "CUT_AFTER"})
  void deleteInDoubtFreesTheNextWaiter(Action action) {
    for (int round = 0; round < ROUNDS; round++) {
      // Given
      String lock = "lost/delete-" + action + "-" + round;
      Asking holder = Asking.forLock(channel, lock);
      holder.awaitGrant();
      Asking waiter = Asking.forLock(channel, lock);
      waiter.await(EventCase.QUEUED);
      network.at(1, request -> request.isMultiWith(OpCode.delete), action);

      // When
      holder.hangUp();

      // Then
      waiter.awaitGrant();
      Awaitility.await(lock).until(() -> znodes.entries(lock).size() == 1);
      waiter.release();
      assertThat(znodes.entries(lock)).as(lock).isEmpty();
    }
    assertThat(network.pendingRules()).isZero();
  }

  @Test
  void cutsAtRandomRequestsUnderLoadLoseNoLockAndLeaveNoEntry() {
    // Given
    Random random = new Random(4_711);
    for (int i = 0; i < 5; i++) {
      Action action = random.nextBoolean() ? Action.CUT_AFTER : Action.CUT_BEFORE;
      network.at(20 + 60 * i + random.nextInt(50), OpCode.multi, action);
    }

    // When
    int granted = 0;
    for (int i = 0; i < 125; i++) {
      Asking first = ask("lost/random-" + i % 7);
      first.awaitGrant();
      Asking second = ask("lost/random-" + i % 7);
      first.release();
      second.awaitGrant();
      second.hangUp();
      granted += 2;
    }

    // Then
    assertThat(granted).isEqualTo(250);
    Awaitility.await().until(() -> znodes.countEntries("lost/random-") == 0);
  }

  /** Requests the lock, and again if the server had just lost its connection. */
  private Asking ask(String lock) {
    return Awaitility.await(lock)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> Asking.forLock(channel, lock), LostRepliesIT::isTaken);
  }

  private static boolean isTaken(Asking asking) {
    Timed<AcquireRequest, AcquireResponse> events = asking.events();
    Awaitility.await("an answer")
        .pollInterval(Duration.ofMillis(1))
        .until(() -> !events.arrivals().isEmpty() || events.end().isPresent());
    if (events.arrivals().isEmpty()) {
      assertThat(events.end().orElseThrow().getCode()).isEqualTo(Code.UNAVAILABLE);
    }
    return !events.arrivals().isEmpty();
  }

  private static boolean createsAnEntry(Request request) {
    return request.isMultiWith(OpCode.create, OpCode.create2) && request.contains("-lock-");
  }
}
