package io.lockkeeper.server.rpc.call;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows whether the transport ran out of memory lately. Netty survives that, so the process goes
 * on, but who cannot take a connection or read a request does not serve. Thread-safe.
 */
public final class MemoryAlarm {

  private static final Logger LOG = LoggerFactory.getLogger(MemoryAlarm.class);
  private static final Duration LASTING = Duration.ofSeconds(10);
  private static final long NEVER = Long.MIN_VALUE;

  private final AtomicLong raisedNanos = new AtomicLong(NEVER);

  /** Looks at what went wrong on a connection: a lack of memory raises the alarm. */
  public void look(Throwable cause, long nowNanos) {
    if (cause instanceof OutOfMemoryError) {
      boolean rang = isRaised(nowNanos);
      raisedNanos.set(nowNanos == NEVER ? nowNanos + 1 : nowNanos);
      if (!rang) {
        LOG.atError()
            .addKeyValue("cause", cause.getMessage())
            .log("The transport is out of memory: not ready until that has passed");
      }
    }
  }

  private boolean isRaised(long nowNanos) {
    long raised = raisedNanos.get();
    return raised != NEVER && nowNanos - raised < LASTING.toNanos();
  }

  /** Returns in words why requests cannot be served, if they cannot. */
  public Optional<String> impediment(long nowNanos) {
    return isRaised(nowNanos)
        ? Optional.of("the transport of gRPC is out of memory, or was some seconds ago")
        : Optional.empty();
  }
}
