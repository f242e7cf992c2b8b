package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Unprotected;
import io.lockkeeper.integration.harness.Znodes;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The whole move of {@code docs/migrate/from-curator.md}: two services work under one lock all the
 * time, and one after the other is stopped and started anew in its next version.
 */
@Timeout(300)
final class CuratorDrillIT {

  /** That of Curator's client, the leases' TTL and that of the coordinator's, about. */
  private static final Duration LONGEST_LEASE = Duration.ofSeconds(10);

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** How much both together have to do before the next one is moved. */
  private static final int SALES = 60;

  private final Path directory = Scratch.directory("curator-drill");
  private final Unprotected store = Unprotected.in(directory);
  private final List<StockProcess> started = new ArrayList<>();

  @Test
  void servicesMoveOverAndBackUnderLoadAndNoUpdateIsLost() {
    try (Rig rig = Rig.start(Rig.shortSessions(10, "--locks-path=/service/locks"));
        Znodes znodes = Znodes.at(rig.zookeeper().connectString(), "/service/locks");
        Progress progress = new Progress(store)) {
      // Given
      String zookeeper = rig.zookeeper().connectString();
      String servers = rig.server().address();
      StockProcess billing = start(StockProcess.onCurator(zookeeper, directory, "billing-1"));
      StockProcess shipping = start(StockProcess.onCurator(zookeeper, directory, "shipping-1"));
      awaitSales(billing, shipping);

      // When: to Lockkeeper, one step back, and over for good
      billing.stop();
      billing = start(StockProcess.onLockkeeper(servers, directory, "billing-2"));
      awaitSales(billing, shipping);
      billing.stop();
      billing = start(StockProcess.onCurator(zookeeper, directory, "billing-3"));
      awaitSales(billing, shipping);
      billing.stop();
      billing = start(StockProcess.onLockkeeper(servers, directory, "billing-4"));
      awaitSales(billing, shipping);
      shipping.stop();
      shipping = start(StockProcess.onLockkeeper(servers, directory, "shipping-2"));
      awaitSales(billing, shipping);
      Duration longestPause = progress.longestPause();
      billing.stop();
      shipping.stop();

      // Then
      System.out.printf(
          "curator drill: %d sales, the longest time without one was %d ms%n",
          store.counter(), longestPause.toMillis());
      assertThat(store.counter()).as("no update is lost").isEqualTo(sales());
      assertThat(store.tokens().stream().filter(token -> token != 0))
          .isSorted()
          .doesNotHaveDuplicates();
      assertThat(longestPause).isLessThan(LONGEST_LEASE.multipliedBy(2));
      assertThat(znodes.entries("stock")).isEmpty();
    }
  }

  @AfterEach
  void killAll() {
    started.forEach(StockProcess::close);
  }

  private StockProcess start(StockProcess service) {
    started.add(service);
    return service;
  }

  /** Waits until both have sold, and together so much more. */
  private void awaitSales(StockProcess one, StockProcess another) {
    int before = sales();
    Awaitility.await("sales of " + one.name() + " and " + another.name())
        .atMost(PATIENCE)
        .failFast("a service has ended", () -> !one.isAlive() || !another.isAlive())
        .until(
            () ->
                sales() >= before + SALES
                    && store.clients().containsAll(List.of(one.name(), another.name())));
  }

  private int sales() {
    return store.tokens().size();
  }

  /** Looks every few milliseconds whether the store's log has grown, from its first line on. */
  private static final class Progress implements AutoCloseable {
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final ScheduledFuture<?> looking;
    private final File log;
    private long size;
    private long sinceNanos;
    private volatile long longestNanos;

    Progress(Unprotected store) {
      log = store.logFile().toFile();
      looking = clock.scheduleAtFixedRate(this::look, 0, 5, TimeUnit.MILLISECONDS);
    }

    private void look() {
      long now = System.nanoTime();
      long length = log.length();
      if (length == size) {
        return;
      }
      if (size > 0) {
        longestNanos = Math.max(longestNanos, now - sinceNanos);
      }
      size = length;
      sinceNanos = now;
    }

    Duration longestPause() {
      return Duration.ofNanos(longestNanos);
    }

    @Override
    public void close() {
      looking.cancel(false);
      clock.shutdown();
    }
  }
}
