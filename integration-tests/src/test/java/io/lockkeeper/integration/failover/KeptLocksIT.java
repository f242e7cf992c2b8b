package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.FreezeResponse;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UnfreezeResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks that a client keeps, while coordinators come and go and operators want them. */
final class KeptLocksIT {

  private static final String LOCK = "kept/survives";
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration KEEP = Duration.ofMinutes(10);

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));

  private static List<Long> holders(int index, String lock) {
    return Asking.holderTokens(cluster.connect(index), lock);
  }

  @Test
  void keptLockSurvivesItsCoordinatorAndIsGivenUpWhenSomebodyWaits() throws Exception {
    // Given
    LockRequest kept = LockRequest.of(LOCK).keepUnused(KEEP);
    try (LockkeeperClient client = cluster.client(TTL)) {
      LockHandle first = client.lock(kept);
      final long token = first.fencingToken();
      first.close();
      // When: whichever of the two serves it
      for (int index : List.of(0, 1)) {
        cluster.seat(index).kill();
        await().untilAsserted(() -> assertThat(holders(1 - index, LOCK)).containsExactly(token));
        cluster.seat(index).launch();
        cluster.awaitServing();
      }
      // Then: nobody has lost anything, and nobody was asked
      try (LockHandle again = client.lock(kept)) {
        assertThat(again.fencingToken()).isEqualTo(token);
      }
      Asking waiter = Asking.forLock(cluster.connect(1), LOCK);
      assertThat(waiter.awaitToken()).isGreaterThan(token);
    }
  }

  @Test
  void freezeMakesAKeptLockFree() throws Exception {
    // Given
    try (LockkeeperClient client = cluster.client(TTL)) {
      client.lock(LockRequest.of("kept/frozen").keepUnused(KEEP)).close();
      assertThat(holders(0, "kept/frozen")).hasSize(1);
      var admin = AdminServiceGrpc.newBlockingStub(cluster.connect(1));
      // When
      FreezeResponse frozen =
          admin.freeze(FreezeRequest.newBuilder().setPrefix("kept/").setReason("move").build());
      // Then
      assertThat(frozen).isNotNull();
      await().untilAsserted(() -> assertThat(holders(0, "kept/frozen")).isEmpty());
      UnfreezeResponse thawed =
          admin.unfreeze(UnfreezeRequest.newBuilder().setPrefix("kept/").build());
      assertThat(thawed).isNotNull();
    }
  }
}
