package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.coordinator.serial.SerialExecutor;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where all state of the store lives: its tasks run one at a time, as on one thread, though on
 * whichever thread brings them, as {@link SerialExecutor} has it. So ZooKeeper's callbacks need no
 * other thread to wake up; they may come on any thread, as they do once a handle is closed.
 *
 * <p>Tasks of one thread run in the order in which it handed them over. The queue has no cap of its
 * own: it holds what callers asked for and ZooKeeper answered, and both are capped where they
 * begin.
 *
 * <p>It stops at the first exception or error: a task that throws has lost an answer of ZooKeeper's
 * or forgotten a write that was asked for, and a deletion that is forgotten is a lock that is never
 * free again. So does what throws anywhere else where nobody would hear of it: in a callback before
 * it hands in its task, in a timer, on a thread that closes handles.
 */
public final class StoreExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(StoreExecutor.class);

  private final ThreadPoolExecutor relief =
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
  private final SerialExecutor executor =
      new SerialExecutor(new Tasks(), () -> relief.execute(this::goOn));
  private final AtomicBoolean failed = new AtomicBoolean();
  private volatile Consumer<Throwable> onFailure =
      cause -> LOG.atError().setCause(cause).log("a task of the ZooKeeper store failed");
  private volatile boolean stopped;

  /** Makes a thread that is ready for tasks. */
  public StoreExecutor() {
    executor.goOn();
  }

  private final class Tasks implements SerialExecutor.Runner {
    @Override
    public void run(Runnable task) {
      if (!stopped && !failed.get()) {
        task.run();
      }
    }

    @Override
    public void onBatchEnd() {
      // Nothing waits for the end of a batch.
    }

    @Override
    public void runLast(Runnable action) {
      if (!failed.get()) {
        action.run();
      }
    }

    @Override
    public void onThrown(Throwable thrown) {
      fail(thrown);
    }
  }

  private static Thread daemon(Runnable body, String name) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Runs {@code task} now or, where another is at work, after it; forgets it after {@link #stop}.
   */
  public void execute(Runnable task) {
    attempt(() -> executor.pass(task));
  }

  /** Runs {@code task} here, on any thread: what it throws counts as if a task had. */
  void attempt(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void fail(Throwable thrown) {
    if (failed.compareAndSet(false, true)) {
      onFailure.accept(thrown);
    }
  }

  private void goOn() {
    executor.goOn();
  }

  /** Runs {@code task} on the thread when {@code millis} have passed. */
  public void after(long millis, Runnable task) {
    var unused = timers.schedule(() -> execute(task), millis, TimeUnit.MILLISECONDS);
  }

  /** Says who is told, once, what a task threw; no task has run since. */
  public void onFailure(Consumer<Throwable> listener) {
    onFailure = listener;
  }

  /** Runs nothing more from now on; a task that is at work is not waited for. */
  public void halt() {
    stopped = true;
    timers.shutdownNow();
    relief.shutdown();
  }

  /** Ends it once what was handed over has run, waiting so long at most. */
  public void stop(long millis) throws InterruptedException {
    timers.shutdownNow();
    CountDownLatch done = new CountDownLatch(1);
    execute(done::countDown);
    if (!done.await(millis, TimeUnit.MILLISECONDS)) {
      LOG.atWarn().log("a task of the ZooKeeper store does not end");
    }
    stopped = true;
    relief.shutdown();
  }
}
