package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Unprotected;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The whole move of {@code docs/migrate/from-curator.md}: two services work under one lock all the
 * time, and one after the other is stopped and started anew in its next version.
 */
final class CuratorDrillIT {

  /** How much both together have to do before the next one is moved. */
  private static final int SALES = 20;

  private final Neighbourhood here = Neighbourhood.shared();
  private final Path directory = Scratch.directory("curator-drill");
  private final Unprotected store = Unprotected.in(directory);
  private final List<StockProcess> started = new ArrayList<>();

  @Test
  void servicesMoveOverAndBackUnderLoadAndNoUpdateIsLost() {
    // Given
    String zookeeper = here.zookeeper();
    String servers = here.address();
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
    billing.stop();
    shipping.stop();

    // Then
    assertThat(store.counter()).as("no update is lost").isEqualTo(sales());
    assertThat(store.tokens().stream().filter(token -> token != 0))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(here.znodes().entries("stock")).isEmpty();
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
        .failFast("a service has ended", () -> !one.isAlive() || !another.isAlive())
        .until(
            () ->
                sales() >= before + SALES
                    && store.clients().containsAll(List.of(one.name(), another.name())));
  }

  private int sales() {
    return store.tokens().size();
  }
}
