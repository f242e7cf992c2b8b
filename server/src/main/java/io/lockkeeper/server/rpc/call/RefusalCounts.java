package io.lockkeeper.server.rpc.call;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Counts what was refused at a limit of the server, by limit: never by client or lock, of which
 * there are too many. Thread-safe.
 */
public final class RefusalCounts {

  private final Map<Limit, LongAdder> counts =
      Arrays.stream(Limit.values())
          .collect(Collectors.toUnmodifiableMap(limit -> limit, limit -> new LongAdder()));

  /** Counts one more. */
  void count(Limit limit) {
    counts.getOrDefault(limit, new LongAdder()).increment();
  }

  /** Returns how often the limit was reached so far. */
  public long of(Limit limit) {
    return counts.getOrDefault(limit, new LongAdder()).sum();
  }
}
