package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Unprotected;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Services that still use Curator's mutex queue in the same queues. */
final class CuratorNeighbourIT {

  private static final int ITERATIONS = 60;

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();

  @AutoClose
  private final CuratorFramework curator =
      CuratorFrameworkFactory.newClient(rig.zookeeper().connectString(), new RetryOneTime(100));

  @BeforeEach
  void connect() {
    curator.start();
  }

  @Test
  void curatorsHolderIsWaitedForAndOursIsWaitedForByCurator() throws Exception {
    // Given
    InterProcessMutex mutex = mutex("curator/turns");
    mutex.acquire();
    Asking ours = Asking.forLock(channel, "curator/turns");
    ours.await(EventCase.QUEUED);
    assertThat(ours.find(EventCase.GRANTED)).isEmpty();

    // When
    mutex.release();

    // Then
    ours.awaitGrant();
    assertThat(mutex.acquire(300, TimeUnit.MILLISECONDS)).isFalse();
    ours.release();
    assertThat(mutex.acquire(10, TimeUnit.SECONDS)).isTrue();
    mutex.release();
  }

  @Test
  void bothSidesTogetherLoseNoUpdate() throws Exception {
    // Given
    Unprotected shared = Unprotected.in(Scratch.directory("curator"));
    InterProcessMutex mutex = mutex("curator/counter");

    // When
    CompletableFuture<Void> ours =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < ITERATIONS; i++) {
                Asking asking = Asking.forLock(channel, "curator/counter");
                shared.work(asking.awaitToken(), "ours");
                asking.release();
              }
            });
    for (int i = 0; i < ITERATIONS; i++) {
      mutex.acquire();
      shared.work(0, "curator");
      mutex.release();
    }
    ours.get(60, TimeUnit.SECONDS);

    // Then
    assertThat(shared.counter()).isEqualTo(2 * ITERATIONS);
  }

  private InterProcessMutex mutex(String lock) {
    return new InterProcessMutex(curator, Znodes.directory(lock));
  }
}
