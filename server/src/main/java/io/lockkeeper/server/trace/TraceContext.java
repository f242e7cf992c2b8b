package io.lockkeeper.server.trace;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The trace context in the metadata of requests and entries, under {@code traceparent}. */
final class TraceContext {

  private static final W3CTraceContextPropagator PROPAGATOR =
      W3CTraceContextPropagator.getInstance();

  private static final TextMapGetter<Map<String, String>> GETTER =
      new TextMapGetter<>() {
        @Override
        public @Nullable String get(@Nullable Map<String, String> metadata, String key) {
          return key.equals(AcquireCommand.TRACEPARENT)
              ? Objects.requireNonNull(metadata).get(key)
              : null;
        }
      };

  private TraceContext() {}

  /** Returns what a request names as its parent; a root if that is nothing that can be read. */
  static Context parentIn(Map<String, String> metadata) {
    return PROPAGATOR.extract(Context.root(), metadata, GETTER);
  }

  /** Returns what an entry names, invalid if that is nothing that can be read. */
  static SpanContext in(Map<String, String> metadata) {
    return Span.fromContext(parentIn(metadata)).getSpanContext();
  }

  /** Returns the metadata that names {@code context} in place of what it named. */
  static Map<String, String> put(Map<String, String> metadata, SpanContext context) {
    Map<String, String> named = new HashMap<>(metadata);
    PROPAGATOR.inject(
        Context.root().with(Span.wrap(context)),
        named,
        (target, key, value) -> {
          if (key.equals(AcquireCommand.TRACEPARENT)) {
            Objects.requireNonNull(target).put(key, value);
          }
        });
    return named;
  }
}
