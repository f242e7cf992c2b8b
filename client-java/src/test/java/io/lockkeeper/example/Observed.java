package io.lockkeeper.example;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.MicrometerObserver;
import io.lockkeeper.client.OpenTelemetryObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;

/** Makes a client that measures and traces. */
public final class Observed {

  private Observed() {}

  /** Uses both libraries; one alone is fine. */
  public static LockkeeperClient client(MeterRegistry registry, OpenTelemetry telemetry) {
    return LockkeeperClient.builder("lock1:7420,lock2:7420")
        .observer(MicrometerObserver.of(registry))
        .observer(OpenTelemetryObserver.of(telemetry))
        .build();
  }
}
