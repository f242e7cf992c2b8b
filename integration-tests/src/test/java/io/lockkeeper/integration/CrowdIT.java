package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.DeadlineChannel;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many clients at once, and clients that change their minds. */
final class CrowdIT {

  private static final Pattern RECEIVED = Pattern.compile("Received: ([0-9]+)");

  private final Rig rig = Rig.shared();
  private final ManagedChannel channel = rig.connect();
  @AutoClose private final Znodes znodes = Znodes.at(rig.zookeeper().connectString());

  @Test
  void oneReleaseAmong500WaitersIsOneGrantAndNoHerd() {
    // Given
    int waiters = 500;
    Asking holder = Asking.forLock(channel, "crowd/herd");
    holder.awaitGrant();
    List<Asking> waiting = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      waiting.add(Asking.forLock(channel, "crowd/herd"));
    }
    waiting.forEach(asking -> asking.await(EventCase.QUEUED));
    long before = zookeeperPackets();

    // When
    holder.release();
    Awaitility.await().until(() -> granted(waiting) > 0);
    long packets = zookeeperPackets() - before;

    // Then
    assertThat(granted(waiting)).isEqualTo(1);
    assertThat(packets).as("requests to ZooKeeper for one hand-off").isLessThan(waiters / 2);
    assertThat(lock("crowd/herd").getQueueLength()).isEqualTo(waiters - 1);
    waiting.forEach(Asking::hangUp);
    awaitNothingLeft("crowd/herd");
  }

  @Test
  @Tag("smoke")
  void acquiresCancelledAtAnyMomentLeaveNothingBehind() throws Exception {
    // Given
    int cancellations = 1_000;
    Random random = new Random(20_260_101);
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
    List<Future<?>> hangUps = new ArrayList<>();

    // When
    for (int i = 0; i < cancellations; i++) {
      Asking asking = Asking.forLock(channel, "crowd/cancel-" + random.nextInt(20));
      int patienceMicros = random.nextInt(20_000);
      hangUps.add(timer.schedule(asking::hangUp, patienceMicros, TimeUnit.MICROSECONDS));
    }
    for (Future<?> hangUp : hangUps) {
      hangUp.get(1, TimeUnit.MINUTES);
    }
    timer.shutdown();

    // Then
    awaitNothingLeft("crowd/cancel-");
    Asking afterwards = Asking.forLock(channel, "crowd/cancel-0");
    afterwards.awaitGrant();
    afterwards.hangUp();
  }

  @Test
  void deadlinesOfTheCallAreCancellations() {
    // Given
    Asking holder = Asking.forLock(channel, "crowd/deadline");
    holder.awaitGrant();

    // When
    List<Asking> hasty = new ArrayList<>();
    for (int i = 1; i <= 50; i++) {
      hasty.add(Asking.forLock(new DeadlineChannel(channel, i), "crowd/deadline"));
    }
    hasty.forEach(Asking::awaitEnd);

    // Then
    Awaitility.await()
        .until(
            () ->
                lock("crowd/deadline").getQueueLength() == 0
                    && znodes.entries("crowd/deadline").size() == 1);
    holder.release();
    awaitNothingLeft("crowd/deadline");
  }

  @Test
  void waitThatTimesOutIsAnEventAndLeavesTheQueue() {
    // Given
    Asking holder = Asking.forLock(channel, "crowd/timeout");
    holder.awaitGrant();

    // When
    List<Asking> patient = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      Duration wait = Duration.ofMillis(10L * i);
      patient.add(Asking.with(channel, Asking.request("crowd/timeout", wait).build()));
    }

    // Then
    assertThat(patient)
        .allSatisfy(
            asking -> {
              asking.await(EventCase.NOT_ACQUIRED);
              assertThat(asking.awaitEnd().isOk()).isTrue();
            });
    Awaitility.await().until(() -> znodes.entries("crowd/timeout").size() == 1);
    holder.release();
  }

  private static long granted(List<Asking> askings) {
    return askings.stream().filter(asking -> asking.find(EventCase.GRANTED).isPresent()).count();
  }

  private LockState lock(String name) {
    return LockServiceGrpc.newBlockingStub(channel)
        .getLock(GetLockRequest.newBuilder().setName(name).build())
        .getLock();
  }

  private void awaitNothingLeft(String prefix) {
    Awaitility.await()
        .until(
            () ->
                znodes.countEntries(prefix) == 0
                    && LockServiceGrpc.newBlockingStub(channel)
                            .listLocks(ListLocksRequest.newBuilder().setPrefix(prefix).build())
                            .getLocksCount()
                        == 0);
  }

  private long zookeeperPackets() {
    Matcher received = RECEIVED.matcher(rig.zookeeper().ask("srvr"));
    assertThat(received.find()).isTrue();
    return Long.parseLong(received.group(1));
  }
}
