package io.lockkeeper.bench.load;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Clients with a thread each, for systems whose holder is a thread.
 *
 * @param <L> a lock as its client has it
 */
public final class ThreadCrew<L> implements Crew {

  private static final long PATIENCE_SECONDS = 60;

  private final Order order;
  private final Tally tally;
  private final BlockingLocks<L> locks;
  private final ExecutorService threads;
  private volatile boolean stopping;

  private ThreadCrew(Order order, Tally tally, BlockingLocks<L> locks) {
    this.order = order;
    this.tally = tally;
    this.locks = locks;
    this.threads = Executors.newFixedThreadPool(order.clients());
  }

  /** Sets the clients of an order to work. */
  public static <L> Crew start(Order order, Tally tally, BlockingLocks<L> locks) {
    ThreadCrew<L> crew = new ThreadCrew<>(order, tally, locks);
    for (int i = 0; i < order.clients(); i++) {
      int client = i;
      crew.threads.execute(() -> crew.work(client));
    }
    return crew;
  }

  @Override
  public void stop() throws InterruptedException {
    stopping = true;
    threads.shutdown();
    if (!threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("a client does not end");
    }
  }

  private void work(int client) {
    try {
      long turn = 1;
      L lock = locks.open(client, order.lock(client, turn));
      boolean reenters = order.shape() == Order.Shape.REENTRY;
      if (reenters) {
        locks.acquire(lock);
      }
      while (!stopping) {
        long askedNanos = System.nanoTime();
        locks.acquire(lock);
        tally.acquired(System.nanoTime() - askedNanos);
        locks.release(lock);
        tally.released();
        if (order.shape() == Order.Shape.NAMES) {
          turn++;
          lock = locks.open(client, order.lock(client, turn));
        }
      }
      if (reenters) {
        locks.release(lock);
      }
    } catch (Exception e) {
      tally.failed(e);
    }
  }
}
