package io.lockkeeper.server.rpc.call;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A timer on one thread whose tasks fail alone and not in silence: what one throws is logged, and
 * one that comes again and again goes on to come. None of them decides who holds what. After the
 * end, tasks are dropped.
 */
public final class SteadyTimer extends ScheduledThreadPoolExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(SteadyTimer.class);

  public SteadyTimer(ThreadFactory threads) {
    // Only once all is over: what is to be done later is not done then.
    super(1, threads, new DiscardPolicy());
    setRemoveOnCancelPolicy(true);
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    return super.schedule(() -> attempt(task), delay, unit);
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable task, long initialDelay, long delay, TimeUnit unit) {
    return super.scheduleWithFixedDelay(() -> attempt(task), initialDelay, delay, unit);
  }

  private static void attempt(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.atError().setCause(e).log("A task of a timer has failed");
    }
  }
}
