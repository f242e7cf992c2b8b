package io.lockkeeper.server.rpc;

import io.lockkeeper.server.rpc.wire.Causes;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what gRPC and Netty log by way of {@code java.util.logging}, and logs it as the rest of the
 * server does, one line of each logger in ten seconds: they would log a stack trace for each frame
 * that breaks a rule, and any client could fill the disk.
 */
final class TransportLog extends Handler {

  private static final Logger LOG = LoggerFactory.getLogger("io.grpc");
  // Kept here, since the JDK forgets the handlers of a logger that nobody refers to.
  private static final java.util.logging.Logger SOURCE =
      java.util.logging.Logger.getLogger("io.grpc");

  private static final AtomicBoolean INSTALLED = new AtomicBoolean();
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int LONGEST = 300;

  private final Logger target;
  private final LongSupplier nanoTime;
  private final SimpleFormatter formatter = new SimpleFormatter();
  private final Map<String, Valve> valves = new ConcurrentHashMap<>();

  TransportLog(Logger target, LongSupplier nanoTime) {
    this.target = target;
    this.nanoTime = nanoTime;
  }

  /** Takes over from now on, for the whole process. Idempotent. */
  static void install() {
    if (INSTALLED.compareAndSet(false, true)) {
      SOURCE.addHandler(new TransportLog(LOG, System::nanoTime));
      SOURCE.setUseParentHandlers(false);
    }
  }

  @Override
  public void publish(LogRecord line) {
    if (!isLoggable(line)) {
      return;
    }
    String logger = String.valueOf(line.getLoggerName());
    OptionalLong leftOut =
        valves.computeIfAbsent(logger, name -> new Valve()).pass(nanoTime.getAsLong());
    if (leftOut.isPresent()) {
      target
          .atLevel(
              line.getLevel().intValue() >= Level.SEVERE.intValue()
                  ? org.slf4j.event.Level.ERROR
                  : org.slf4j.event.Level.WARN)
          .addKeyValue("source", logger.substring(logger.lastIndexOf('.') + 1))
          .addKeyValue("leftOut", leftOut.getAsLong())
          .log(text(line));
    }
  }

  /** What a client has sent may be in it: it must fit a line and cannot forge one. */
  private String text(LogRecord line) {
    Throwable thrown = line.getThrown();
    String whole =
        formatter.formatMessage(line) + (thrown == null ? "" : ": " + Causes.inWords(thrown));
    StringBuilder text = new StringBuilder();
    whole
        .codePoints()
        .limit(LONGEST)
        .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? ' ' : c)
        .forEach(text::appendCodePoint);
    return text.toString();
  }

  @Override
  public void flush() {
    // Nothing is kept.
  }

  @Override
  public void close() {
    // Nothing is open.
  }

  /** Lets one through in ten seconds. */
  private static final class Valve {

    private boolean used;
    private long passedNanos;
    private long leftOut;

    /** Returns how many were left out before the one that may pass now; empty if it may not. */
    synchronized OptionalLong pass(long nowNanos) {
      if (used && nowNanos - passedNanos < PAUSE_NANOS) {
        leftOut++;
        return OptionalLong.empty();
      }
      OptionalLong before = OptionalLong.of(leftOut);
      used = true;
      passedNanos = nowNanos;
      leftOut = 0;
      return before;
    }
  }
}
