package io.lockkeeper.client;

import io.lockkeeper.client.internal.telemetry.Spans;
import io.opentelemetry.api.OpenTelemetry;

/** Traces with OpenTelemetry, whose API must be on the class path. */
public final class OpenTelemetryObserver {

  private OpenTelemetryObserver() {}

  /**
   * Returns what makes a span {@code lockkeeper.acquire} of each wait and {@code lockkeeper.hold}
   * of each hold, children of the span in which the lock was asked for. They name the lock. A wait
   * that ran out of time or was withdrawn is no error.
   *
   * <p>The request takes the wait's trace context along, as {@code traceparent} in its metadata: a
   * coordinator that traces continues it, and links those who wait to those who hold.
   *
   * <p>Spans are ended on the client's own thread, and so are their processors called: they must
   * not block. Those that export in batches do not.
   */
  public static ClientObserver of(OpenTelemetry telemetry) {
    return new ClientObserver(Spans.of(telemetry));
  }
}
