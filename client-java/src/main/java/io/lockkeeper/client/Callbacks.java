package io.lockkeeper.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the user's code: one piece at a time, in order, on an executor that is never gRPC's and,
 * unless the user chose so, never the client's loop.
 */
final class Callbacks {

  private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);

  /** With more than this many waiting, news that later news replaces are dropped. */
  private static final int ROOM = 10_000;

  private final Executor executor;
  private final Optional<ExecutorService> own;
  private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
  private volatile Optional<Thread> runner = Optional.empty();
  private boolean draining;

  private Callbacks(Executor executor, Optional<ExecutorService> own) {
    this.executor = executor;
    this.own = own;
  }

  static Callbacks on(Optional<Executor> chosen) {
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

  /** Runs {@code task} after all that was given before. */
  void run(Runnable task) {
    synchronized (queue) {
      queue.add(task);
      if (draining) {
        return;
      }
      draining = true;
    }
    submit();
  }

  /** Like {@link #run}, but drops the task when the user's code is far behind. */
  void runIfRoom(Runnable task) {
    synchronized (queue) {
      if (queue.size() >= ROOM) {
        return;
      }
    }
    run(task);
  }

  /** Returns a future that completes as {@code inner} does, but here. */
  <T> CompletableFuture<T> relay(CompletableFuture<T> inner) {
    CompletableFuture<T> outer = new CompletableFuture<>();
    CompletableFuture<T> unused =
        inner.whenComplete(
            (value, failure) ->
                run(
                    () -> {
                      if (failure == null) {
                        outer.complete(value);
                      } else {
                        outer.completeExceptionally(failure);
                      }
                    }));
    return outer;
  }

  /** Returns whether the caller is one of the tasks. */
  boolean isCurrentThread() {
    return runner.filter(Thread.currentThread()::equals).isPresent();
  }

  /** Runs what is left and ends the thread, if it is the client's own. */
  void stop(Duration limit) throws InterruptedException {
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
      // Somebody may wait for what would be dropped: a release of a closed client, for instance.
      LOG.atDebug().log("The callback executor refuses work: the callbacks run where they arise");
      drain();
    }
  }

  private void drain() {
    runner = Optional.of(Thread.currentThread());
    for (Optional<Runnable> next = take(); next.isPresent(); next = take()) {
      try {
        next.get().run();
      } catch (RuntimeException | Error e) {
        LOG.atWarn().setCause(e).log("A callback failed; the client goes on");
      }
    }
  }

  private Optional<Runnable> take() {
    synchronized (queue) {
      Optional<Runnable> next = Optional.ofNullable(queue.poll());
      if (next.isEmpty()) {
        draining = false;
        runner = Optional.empty();
      }
      return next;
    }
  }
}
