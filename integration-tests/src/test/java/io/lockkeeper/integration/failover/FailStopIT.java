package io.lockkeeper.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Debugger;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.ReleaseOutcome;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A coordinator in whose core something throws: it ends, and others go on with what it had. */
final class FailStopIT {

  private static final int STATE_IN_DOUBT = 71;
  private static final String CORE = "io.lockkeeper.server.core.Kernel";
  private static final String STORE = "io.lockkeeper.server.zookeeper.ZooKeeperLockStore";

  @RegisterExtension private static final Cluster cluster = Cluster.shared(Plan.quick(2));
  private static int debugPort;

  @BeforeEach
  void debuggable() {
    cluster.seat(0).kill();
    debugPort = Ports.free();
    cluster.seat(0).launch(Debugger.environment(debugPort));
    cluster.restore();
  }

  @Test
  void releaseWhoseDeletionThrowsEndsTheProcessAndThePeerGoesOnWithTheLock() throws Exception {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(1));
        Debugger debugger = Debugger.attach(debugPort)) {
      final long kept = holder.take("kept", "fail/kept");
      final long token = holder.take("released", "fail/released");
      waiter.queue("waits", "fail/released");

      // When
      var thrown = debugger.throwAt(STORE, "deleteEntries");
      holder.stream().release("released");
      thrown.get(60, TimeUnit.SECONDS);

      // Then
      assertThat(cluster.seat(0).process().awaitExit()).isEqualTo(STATE_IN_DOUBT);
      assertThat(cluster.seat(0).process().output())
          .contains("ERROR", "state is in doubt", "ClientEvent.Release")
          .contains("thrown by a debugger", "at " + STORE + ".deleteEntries");
      holder.moveTo(cluster.connect(1));
      assertThat(holder.awaitToken("kept")).isEqualTo(kept);
      assertThat(holder.awaitToken("released")).isEqualTo(token);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      assertThat(holder.release("released")).isEqualTo(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }

  @Test
  void coreThatThrowsEndsTheProcessAndTheNextOneThereGoesOnWithTheLock() throws Exception {
    // Given
    try (Guest holder = Guest.at(cluster.connect(0));
        Guest waiter = Guest.at(cluster.connect(0));
        Debugger debugger = Debugger.attach(debugPort)) {
      final long token = holder.take("held", "fail/core");
      waiter.queue("waits", "fail/core");
      cluster.seat(1).process().pause(); // So that nobody else takes over.

      // When: whatever the event is that comes next
      debugger.throwAt(CORE, "on").get(60, TimeUnit.SECONDS);

      // Then
      assertThat(cluster.seat(0).process().awaitExit()).isEqualTo(STATE_IN_DOUBT);
      assertThat(cluster.seat(0).process().output()).contains("at " + CORE + ".on");
      cluster.seat(0).start();
      waiter.moveTo(cluster.connect(0));
      holder.moveTo(cluster.connect(0));
      assertThat(holder.awaitToken("held")).isEqualTo(token);
      waiter.await("waits", EventCase.QUEUED);
      assertThat(waiter.find("waits", EventCase.GRANTED)).isEmpty();
      holder.release("held");
      assertThat(waiter.awaitToken("waits")).isGreaterThan(token);
    }
  }
}
