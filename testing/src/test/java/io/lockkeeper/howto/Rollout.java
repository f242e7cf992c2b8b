package io.lockkeeper.howto;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.awaitility.Awaitility;

/**
 * A service of several workers, each with clients of its own, that count one counter without
 * protection but for a lock, all the time, while versions of the service are rolled out: one worker
 * is stopped and started after the other. An update is lost when two are inside at once.
 */
public final class Rollout implements AutoCloseable {

  /** How often a worker counts under its new version before the next one is replaced. */
  private static final int ROUNDS = 5;

  private static final long PAUSE_NANOS = 200_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final AtomicInteger counter = new AtomicInteger();
  private final AtomicInteger counted = new AtomicInteger();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Worker> workers = new ArrayList<>();

  /**
   * How one version of the service does something under its lock.
   *
   * <p>May throw whatever goes wrong: then the worker ends, and {@link #deploy} and {@link #close}
   * say so.
   */
  @FunctionalInterface
  public interface Version {

    /** Takes the lock, does the work, and gives the lock back. */
    void work(Runnable work) throws Exception;

    /** Returns the version that takes this lock. */
    static Version of(Lock lock) {
      return work -> {
        lock.lock();
        try {
          work.run();
        } finally {
          lock.unlock();
        }
      };
    }
  }

  /** One worker: a thread that counts under the lock of one version. */
  private final class Worker {
    private final AtomicInteger rounds = new AtomicInteger();
    private final CompletableFuture<Void> end;
    private volatile boolean stopped;

    Worker(Version version) {
      end = CompletableFuture.runAsync(() -> work(version), threads);
    }

    private void work(Version version) {
      while (!stopped) {
        try {
          version.work(Rollout.this::count);
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
        rounds.incrementAndGet();
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }

    void awaitWork() {
      Awaitility.await("work under the new version")
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(5))
          .until(() -> end.isCompletedExceptionally() || rounds.get() >= ROUNDS);
      if (end.isCompletedExceptionally()) {
        end.join();
      }
    }

    void stop() {
      stopped = true;
      end.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }
  }

  /** Starts so many workers, numbered from zero, each in its own version. */
  public Rollout(int count, Function<Integer, Version> version) {
    for (int i = 0; i < count; i++) {
      workers.add(new Worker(version.apply(i)));
    }
    workers.forEach(Worker::awaitWork);
  }

  private void count() {
    int before = counter.get();
    LockSupport.parkNanos(PAUSE_NANOS);
    counter.set(before + 1);
    counted.incrementAndGet();
  }

  /** Replaces one worker after the other by the next version, while the others work. */
  public void deploy(Function<Integer, Version> version) {
    for (int i = 0; i < workers.size(); i++) {
      workers.get(i).stop();
      workers.set(i, new Worker(version.apply(i)));
      workers.get(i).awaitWork();
    }
  }

  /** Returns how many updates were lost; certain when closed. */
  public int lost() {
    return counted.get() - counter.get();
  }

  /** Ends the workers. */
  @Override
  public void close() {
    workers.forEach(Worker::stop);
    threads.shutdown();
  }
}
