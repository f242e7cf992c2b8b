package io.lockkeeper.client.internal.telemetry;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.Optional;

/**
 * Traces with OpenTelemetry: a span for each wait and one for each hold, both children of the span
 * that the request was made in.
 *
 * @param tracer makes the spans
 */
public record Spans(Tracer tracer) implements Observer {

  private static final String ACQUIRE = "lockkeeper.acquire";
  private static final String HOLD = "lockkeeper.hold";
  private static final String LOCK = "lockkeeper.lock";
  private static final String OUTCOME = "lockkeeper.outcome";
  private static final String TOKEN = "lockkeeper.fencing_token";
  private static final String LOSS = "lockkeeper.loss_reason";

  /** Returns spans of the client's own tracer. */
  public static Spans of(OpenTelemetry telemetry) {
    return new Spans(telemetry.getTracer("io.lockkeeper.client"));
  }

  @Override
  public ObservedRequest onRequested(LockRequest request) {
    return new Traced(Context.current(), LockNames.join(request.locks()));
  }

  private final class Traced implements ObservedRequest {
    private final Context parent;
    private final String lock;
    private Span span;

    Traced(Context parent, String lock) {
      this.parent = parent;
      this.lock = lock;
      this.span = start(ACQUIRE);
    }

    private Span start(String name) {
      return tracer.spanBuilder(name).setParent(parent).setAttribute(LOCK, lock).startSpan();
    }

    @Override
    public Optional<String> traceparent() {
      SpanContext context = span.getSpanContext();
      return context.isValid()
          ? Optional.of(
              String.join(
                  "-",
                  "00",
                  context.getTraceId(),
                  context.getSpanId(),
                  context.getTraceFlags().asHex()))
          : Optional.empty();
    }

    @Override
    public void onGranted(LockHandle handle) {
      span.setAttribute(OUTCOME, Outcome.ACQUIRED.tag()).end();
      span = start(HOLD).setAttribute(TOKEN, handle.fencingToken());
    }

    @Override
    public void onNotGranted(Outcome outcome, Throwable why) {
      span.setAttribute(OUTCOME, outcome.tag());
      if (!outcome.isExpected()) {
        span.setStatus(StatusCode.ERROR, outcome.tag());
      }
      span.end();
    }

    @Override
    public void onEnded(Optional<LossReason> lost) {
      lost.ifPresent(
          reason ->
              span.setAttribute(LOSS, Outcome.tag(reason))
                  .setStatus(StatusCode.ERROR, "the lock was lost"));
      span.end();
    }
  }
}
