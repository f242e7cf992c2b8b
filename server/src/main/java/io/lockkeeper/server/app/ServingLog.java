package io.lockkeeper.server.app;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log when requests for locks cannot be served, now and then for as long as it lasts,
 * and when they can.
 */
final class ServingLog implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(ServingLog.class);
  private static final long PERIOD_SECONDS = 1;
  private static final int FIRST_WARNING_AFTER = 3;
  private static final int NEXT_WARNING_AFTER = 60;

  private final BooleanSupplier serving;
  private final String zookeeper;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "lockkeeper-serving-log");
            thread.setDaemon(true);
            return thread;
          });
  private boolean served;
  private int checksInVain;

  ServingLog(BooleanSupplier serving, String zookeeper) {
    this.serving = serving;
    this.zookeeper = zookeeper;
  }

  /** Looks every second until closed. */
  void start() {
    ScheduledFuture<?> unused =
        clock.scheduleAtFixedRate(this::check, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
  }

  /** Looks once. */
  void check() {
    if (serving.getAsBoolean()) {
      if (!served) {
        log.atInfo().addKeyValue("zookeeper", zookeeper).log("serving");
      }
      served = true;
      checksInVain = 0;
      return;
    }
    served = false;
    checksInVain++;
    if (checksInVain % NEXT_WARNING_AFTER == FIRST_WARNING_AFTER) {
      log.atWarn()
          .addKeyValue("zookeeper", zookeeper)
          .addKeyValue("seconds", checksInVain)
          .log(
              "not serving: no usable session with ZooKeeper; trying on, no locks are granted meanwhile");
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
