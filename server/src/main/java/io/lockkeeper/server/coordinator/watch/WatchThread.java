package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that serves all watchers, so that nobody's lock waits for them. It rests after each
 * slice of its work for {@link #REST} times as long as the slice took: the more there are to tell,
 * the later they hear, and the more is told at once. Somebody who watches alone hears everything
 * within a millisecond or so.
 */
final class WatchThread {

  private static final Logger LOG = LoggerFactory.getLogger(WatchThread.class);

  /** How long it rests after work, in times of what the work took. */
  private static final long REST = 25;

  private static final long LONGEST_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int SLICE_MESSAGES = 128;

  private final CoordinatorClock clock;
  private final Queue<Consumer<WatchRounds>> inbox = new ConcurrentLinkedQueue<>();
  private final WatchRounds rounds = new WatchRounds();
  private final Thread thread = new Thread(this::run, "lockkeeper-watchers");
  private volatile boolean stopping;
  private volatile boolean idle;
  private long restUntilNanos;

  WatchThread(CoordinatorClock clock) {
    this.clock = clock;
    restUntilNanos = clock.nanos();
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  void stop() {
    execute(rounds -> stopping = true);
  }

  /** Runs {@code task} on the watchers' thread, in the order in which they were handed over. */
  void execute(Consumer<WatchRounds> task) {
    inbox.add(task);
    // While it rests, it is not woken for every change.
    if (idle) {
      clock.unpark(thread);
    }
  }

  private void run() {
    while (!stopping) {
      for (Consumer<WatchRounds> task = inbox.poll(); task != null; task = inbox.poll()) {
        Consumer<WatchRounds> next = task;
        runSafely(() -> next.accept(rounds));
      }
      long rest = restUntilNanos - clock.nanos();
      if (!rounds.hasWork()) {
        awaitTask();
      } else if (rest > 0) {
        clock.park(this, rest);
      } else {
        work();
      }
    }
  }

  private void awaitTask() {
    idle = true;
    // Whoever adds something after this look sees the mark.
    if (inbox.isEmpty()) {
      clock.park(this, IDLE_NANOS);
    }
    idle = false;
  }

  private void work() {
    long began = clock.nanos();
    runSafely(() -> rounds.slice(SLICE_MESSAGES));
    long ended = clock.nanos();
    restUntilNanos = ended + Math.min(LONGEST_REST_NANOS, REST * (ended - began));
  }

  private static void runSafely(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      // One bad watcher must not end the service of all others, nor the process: nothing here has a
      // part in who holds what, and what the core has decided was carried out before it came here.
      LOG.atError().setCause(e).log("a watcher could not be served");
    }
  }
}
