package io.lockkeeper.server.web.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Counts what HTTP refuses, by limit. Thread-safe. */
public final class WebRefusals {

  /** A limit of HTTP at which something is refused. */
  public enum Limit {
    /** Connections in all. */
    HTTP_CONNECTIONS,
    /** Connections from one address. */
    HTTP_ADDRESS_CONNECTIONS,
    /** Streams, in all and to one address. */
    HTTP_STREAMS,
    /** What visitors have not read of their streams, all together. */
    HTTP_UNREAD,
    /** The time that a request and its answer may take. */
    HTTP_TIME,
    /** The length of a request. */
    HTTP_REQUEST,
    /** A visitor who is nobody known. */
    HTTP_IDENTITY,
    /** A page of another site that would change something. */
    HTTP_ORIGIN
  }

  private final Map<Limit, Counter> counters;

  /** Registers the counters. */
  public WebRefusals(MeterRegistry registry) {
    this.counters =
        Arrays.stream(Limit.values())
            .collect(
                Collectors.toUnmodifiableMap(
                    Function.identity(),
                    limit ->
                        Counter.builder("lockkeeper.refused")
                            .description("What was refused at a limit of the server")
                            .tag("limit", key(limit))
                            .register(registry)));
    LimitGauge.show(registry, key(Limit.HTTP_CONNECTIONS), Connections.MAX);
    LimitGauge.show(registry, key(Limit.HTTP_ADDRESS_CONNECTIONS), HttpListener.MAX_OF_ADDRESS);
    LimitGauge.show(registry, key(Limit.HTTP_STREAMS), Connections.MAX_STREAMS);
    LimitGauge.show(registry, key(Limit.HTTP_UNREAD), Connections.MAX_UNREAD);
  }

  private static String key(Limit limit) {
    return limit.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Counts one that was refused at the limit. */
  public void count(Limit limit) {
    Counter counter = counters.get(limit);
    if (counter != null) {
      counter.increment();
    }
  }
}
