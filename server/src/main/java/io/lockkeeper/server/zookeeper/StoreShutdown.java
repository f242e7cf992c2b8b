package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.zookeeper.client.Connector;
import io.lockkeeper.server.zookeeper.client.Countdown;
import io.lockkeeper.server.zookeeper.client.StoreExecutor;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a store, once: in good order, or as it is. */
final class StoreShutdown {

  private static final Logger LOG = LoggerFactory.getLogger(StoreShutdown.class);
  private static final long STOP_MILLIS = 3_000;

  private final StoreExecutor executor;
  private final Connector connector;
  private final AtomicBoolean ended = new AtomicBoolean();

  StoreShutdown(StoreExecutor executor, Connector connector) {
    this.executor = executor;
    this.connector = connector;
  }

  /**
   * Ends the sessions, then the other parts, then the threads; each within some seconds.
   *
   * @param parts the parts, if the store was started; asked on its thread
   * @param forget has them used no longer; called on the store's thread
   */
  void stop(Supplier<Optional<StoreParts>> parts, Runnable forget) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      CountDownLatch sessionsDown = new CountDownLatch(1);
      executor.execute(() -> stopSessions(parts.get(), sessionsDown));
      await(sessionsDown);
      CountDownLatch allDown = new CountDownLatch(1);
      executor.execute(
          () -> {
            Optional<StoreParts> running = parts.get();
            forget.run();
            stopParts(running, allDown);
          });
      await(allDown);
      connector.stop(STOP_MILLIS);
      executor.stop(STOP_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Drops all handles and ends the threads, and looks at no state. */
  void abandon() {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      executor.halt();
      connector.abandonAll();
      connector.stop(STOP_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    if (!latch.await(STOP_MILLIS, TimeUnit.MILLISECONDS)) {
      LOG.atWarn().log("ZooKeeper sessions take too long to close, going on without them");
    }
  }

  private static void stopSessions(Optional<StoreParts> parts, CountDownLatch down) {
    parts.ifPresentOrElse(
        running -> {
          running.members().stop();
          running.reaper().stop();
          running.sessions().shutDown(down::countDown);
        },
        down::countDown);
  }

  private static void stopParts(Optional<StoreParts> parts, CountDownLatch down) {
    parts.ifPresentOrElse(
        running -> {
          Countdown both = new Countdown(2, down::countDown);
          running.member().stop(both::one);
          running.mirror().stop(both::one);
        },
        down::countDown);
  }
}
