package io.lockkeeper.testing;

import io.lockkeeper.client.internal.loop.Loop;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A loop as a server's services see it: does what it is given in order, and later things when they
 * are due by the loop's clock. Ended, it does nothing any more; the loop lives on.
 */
final class LoopThreads extends AbstractExecutorService implements ScheduledExecutorService {

  private final Loop loop;
  private volatile boolean ended;

  LoopThreads(Loop loop) {
    this.loop = loop;
  }

  @Override
  public void execute(Runnable task) {
    loop.execute(() -> runUnlessEnded(task));
  }

  private void runUnlessEnded(Runnable task) {
    if (!ended) {
      task.run();
    }
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    Later later = new Later(() -> runUnlessEnded(task));
    later.arm(unit.toNanos(delay));
    return later;
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable task, long initialDelay, long delay, TimeUnit unit) {
    Again again = new Again(() -> runUnlessEnded(task), unit.toNanos(delay));
    again.arm(unit.toNanos(initialDelay));
    return again;
  }

  /** Something to be done once, when it is due. */
  private class Later extends FutureTask<Void> implements ScheduledFuture<Void> {
    private volatile Loop.Timer timer;
    private volatile long dueNanos;

    @SuppressWarnings("NullAway.Init") // Armed before anybody sees it.
    Later(Runnable task) {
      super(task, null);
    }

    void arm(long delayNanos) {
      dueNanos = loop.nanos() + delayNanos;
      timer = loop.schedule(delayNanos, this);
    }

    @Override
    protected void done() {
      timer.cancel();
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(dueNanos - loop.nanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
    }
  }

  /** Something to be done again and again. */
  private final class Again extends Later {
    private final long periodNanos;

    Again(Runnable task, long periodNanos) {
      super(task);
      this.periodNanos = periodNanos;
    }

    @Override
    public void run() {
      if (runAndReset() && !ended) {
        arm(periodNanos);
      }
    }
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException("nobody asks for it");
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable task, long initialDelay, long period, TimeUnit unit) {
    throw new UnsupportedOperationException("nobody asks for it");
  }

  @Override
  public void shutdown() {
    ended = true;
  }

  @Override
  public List<Runnable> shutdownNow() {
    ended = true;
    return List.of();
  }

  @Override
  public boolean isShutdown() {
    return ended;
  }

  @Override
  public boolean isTerminated() {
    return ended;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return ended;
  }
}
