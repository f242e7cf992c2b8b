package io.lockkeeper.client.internal.loop;

import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the user's code: one callback at a time and in order, on an executor that is never gRPC's
 * and never the client's loop, unless the user chose so.
 */
public final class Callbacks {

  private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);

  /** With more than this many waiting, events that later ones replace are dropped. */
  private static final int ROOM = 10_000;

  private final Executor executor;
  private final Optional<ExecutorService> own;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicReference<Thread> runner = new AtomicReference<>();

  private Callbacks(Executor executor, Optional<ExecutorService> own) {
    this.executor = executor;
    this.own = own;
  }

  /** Makes the callbacks' executor: the one that was chosen, or one of its own. */
  public static Callbacks on(Optional<Executor> chosen) {
    if (chosen.isPresent()) {
      return new Callbacks(chosen.get(), Optional.empty());
    }
    ExecutorService own =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task, "lockkeeper-callbacks");
              thread.setDaemon(true);
              return thread;
            });
    return new Callbacks(own, Optional.of(own));
  }

  /** Runs {@code task} after all tasks before it. */
  public void run(Runnable task) {
    queue.add(task);
    if (waiting.getAndIncrement() == 0) {
      submit();
    }
  }

  /** Like {@link #run}, but drops the task when the user's code is far behind. */
  public void runIfRoom(Runnable task) {
    if (waiting.get() < ROOM) {
      run(task);
    }
  }

  /** Returns a future that completes as {@code inner} does, but as a callback. */
  public <T> CompletableFuture<T> relay(CompletableFuture<T> inner) {
    return relay(inner, value -> value);
  }

  /**
   * Returns a future that completes as {@code inner} does, but as a callback and with another
   * value.
   */
  public <T, R> CompletableFuture<R> relay(CompletableFuture<T> inner, Function<T, R> toValue) {
    CompletableFuture<R> outer = new CompletableFuture<>();
    CompletableFuture<T> unused =
        inner.whenComplete(
            (value, failure) ->
                run(
                    () -> {
                      if (failure == null) {
                        outer.complete(toValue.apply(value));
                      } else {
                        outer.completeExceptionally(failure);
                      }
                    }));
    return outer;
  }

  /** Returns whether the caller is running as one of the tasks. */
  boolean isCurrentThread() {
    return runner.getPlain() == Thread.currentThread(); // Nobody else writes this thread there.
  }

  /** Runs what is left and ends the thread, if it is the client's own. */
  public void stop(Duration limit) throws InterruptedException {
    if (own.isPresent()) {
      own.get().shutdown();
      if (!isCurrentThread()
          && !own.get().awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.atWarn().log("A callback is still running after {}; its thread ends after it", limit);
      }
    }
  }

  private void submit() {
    try {
      executor.execute(this::drain);
    } catch (RejectedExecutionException e) {
      // A thread may wait for what would be dropped: a release of a closed client, for instance.
      LOG.atDebug().log("The callback executor refuses work: the callbacks run where they arise");
      drain();
    }
  }

  /** For the thread that raised {@link #waiting} from zero: as many tasks are queued, or more. */
  private void drain() {
    Thread me = Thread.currentThread();
    do {
      runner.setPlain(me);
      perform(queue.remove());
      runner.setPlain(null); // Before another thread may become the runner.
    } while (waiting.decrementAndGet() > 0);
  }

  private static void perform(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.atWarn().setCause(e).log("A callback failed; the client goes on");
    }
  }
}
