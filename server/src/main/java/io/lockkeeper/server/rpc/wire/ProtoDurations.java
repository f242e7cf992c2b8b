package io.lockkeeper.server.rpc.wire;

import com.google.protobuf.Duration;

/** Converts durations between the wire and Java. */
public final class ProtoDurations {

  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final long MAX_SECONDS = 315_576_000_000L;

  private ProtoDurations() {}

  /** Returns the duration of {@code nanos}; nothing on the wire is negative. */
  public static Duration ofNanos(long nanos) {
    long positive = Math.max(0, nanos);
    return Duration.newBuilder()
        .setSeconds(positive / NANOS_PER_SECOND)
        .setNanos((int) (positive % NANOS_PER_SECOND))
        .build();
  }

  /** Returns whether {@code duration} obeys the rules of google.protobuf.Duration. */
  static boolean isWellFormed(Duration duration) {
    long seconds = duration.getSeconds();
    int nanos = duration.getNanos();
    boolean nanosFit = nanos > -NANOS_PER_SECOND && nanos < NANOS_PER_SECOND;
    boolean secondsFit = seconds >= -MAX_SECONDS && seconds <= MAX_SECONDS;
    boolean signsAgree = !(seconds > 0 && nanos < 0) && !(seconds < 0 && nanos > 0);
    return nanosFit && secondsFit && signsAgree;
  }

  /** Returns the Java duration of a well-formed {@code duration}. */
  public static java.time.Duration toJava(Duration duration) {
    return java.time.Duration.ofSeconds(duration.getSeconds(), duration.getNanos());
  }
}
