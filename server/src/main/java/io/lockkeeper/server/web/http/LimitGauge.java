package io.lockkeeper.server.web.http;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** Shows the limits that are configured, so that an alert can compare. */
public final class LimitGauge {

  private LimitGauge() {}

  /**
   * Shows a limit for as long as the process lives.
   *
   * @param limit its name; where something is refused at it, the name that is counted by
   */
  public static void show(MeterRegistry registry, String limit, long value) {
    Gauge.builder("lockkeeper.limit", () -> value)
        .description("How much there may be of something")
        .tag("limit", limit)
        .register(registry);
  }
}
