package io.lockkeeper.server.zookeeper.client;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the operator, not too often, that ZooKeeper is out of reach, and when it is back. */
public final class ReachabilityLog {

  private static final Logger LOG = LoggerFactory.getLogger(ReachabilityLog.class);
  private static final long CHECK_MILLIS = 1_000;
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final StoreContext context;
  private final Supplier<String> why;
  private boolean connected;
  private boolean stopped;
  private boolean told;
  private long sinceNanos;
  private long toldNanos;

  /** Tells with it {@code why} ZooKeeper is out of reach. */
  public ReachabilityLog(StoreContext context, Supplier<String> why) {
    this.context = context;
    this.why = why;
  }

  public void start() {
    sinceNanos = System.nanoTime();
    check();
  }

  public void stop() {
    stopped = true;
  }

  public void onConnected() {
    connected = true;
    if (told) {
      told = false;
      LOG.atInfo().log("ZooKeeper is in reach again");
    }
  }

  public void onDisconnected() {
    if (connected) {
      connected = false;
      sinceNanos = System.nanoTime();
    }
  }

  private void check() {
    if (stopped) {
      return;
    }
    long now = System.nanoTime();
    boolean due = !told || now - toldNanos >= REPEAT_NANOS;
    if (!connected && now - sinceNanos >= FIRST_NANOS && due) {
      told = true;
      toldNanos = now;
      LOG.atWarn()
          .addKeyValue("zookeeper", context.settings().connectString())
          .addKeyValue("reason", why.get())
          .addKeyValue("seconds", TimeUnit.NANOSECONDS.toSeconds(now - sinceNanos))
          .log("ZooKeeper is out of reach: no lock can be granted; trying on");
    }
    context.executor().after(CHECK_MILLIS, this::check);
  }
}
