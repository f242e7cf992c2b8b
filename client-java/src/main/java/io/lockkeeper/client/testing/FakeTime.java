package io.lockkeeper.client.testing;

import com.google.protobuf.Duration;

/** Spans of time on the wire and in nanoseconds. */
final class FakeTime {

  private static final long NANOS_A_SECOND = 1_000_000_000L;

  private FakeTime() {}

  static Duration toProto(long nanos) {
    return Duration.newBuilder()
        .setSeconds(nanos / NANOS_A_SECOND)
        .setNanos((int) (nanos % NANOS_A_SECOND))
        .build();
  }

  static long toNanos(Duration duration) {
    return duration.getSeconds() * NANOS_A_SECOND + duration.getNanos();
  }
}
