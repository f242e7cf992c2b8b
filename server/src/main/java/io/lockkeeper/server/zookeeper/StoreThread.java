package io.lockkeeper.server.zookeeper;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread on which all state of the store lives. ZooKeeper's callbacks only hand over to it,
 * so that they never block ZooKeeper's own threads, and may run on any thread, as they do once a
 * handle is closed.
 *
 * <p>Tasks of one thread run in the order in which it handed them over. The queue has no cap of its
 * own: it holds what callers asked for and ZooKeeper answered, and both are capped where they
 * begin.
 */
final class StoreThread {

  private static final Logger LOG = LoggerFactory.getLogger(StoreThread.class);

  private final ThreadPoolExecutor tasks =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          body -> daemon(body, "zookeeper-store"),
          new ThreadPoolExecutor.DiscardPolicy());
  private final ScheduledThreadPoolExecutor timers =
      new ScheduledThreadPoolExecutor(
          1, body -> daemon(body, "zookeeper-store-timer"), new ThreadPoolExecutor.DiscardPolicy());

  private static Thread daemon(Runnable body, String name) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Runs {@code task} later on the thread; forgets it after {@link #stop}. */
  void execute(Runnable task) {
    tasks.execute(() -> runGuarded(task));
  }

  /** Runs {@code task} on the thread when {@code millis} have passed. */
  void after(long millis, Runnable task) {
    var unused = timers.schedule(() -> execute(task), millis, TimeUnit.MILLISECONDS);
  }

  private static void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      LOG.atError().setCause(e).log("a task of the ZooKeeper store failed");
    }
  }

  /** Ends both threads once what was handed over has run, waiting so long at most. */
  void stop(long millis) throws InterruptedException {
    timers.shutdownNow();
    tasks.shutdown();
    if (!tasks.awaitTermination(millis, TimeUnit.MILLISECONDS)) {
      tasks.shutdownNow();
    }
  }
}
