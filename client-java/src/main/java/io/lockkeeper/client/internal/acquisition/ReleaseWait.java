package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.internal.context.ClientContext;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits until a release is certain. */
public final class ReleaseWait {

  private static final Logger LOG = LoggerFactory.getLogger(ReleaseWait.class);

  private ReleaseWait() {}

  /**
   * Waits in the calling thread, for the client's request timeout at most. An interrupt cuts it
   * short and is kept.
   */
  public static void await(Pending pending, ClientContext context) {
    if (pending.released().isDone() || context.loop().isCurrentThread()) {
      return; // A callback on the loop itself cannot wait for what the loop does next.
    }
    Duration limit = context.settings().requestTimeout();
    try {
      pending.released().get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      LOG.atWarn()
          .addKeyValue("lock", pending.names())
          .log("The release is not certain after {}; it goes on in the background", limit);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a release never fails", e);
    }
  }
}
