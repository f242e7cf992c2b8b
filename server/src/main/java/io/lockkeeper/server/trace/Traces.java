package io.lockkeeper.server.trace;

import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Occurrence;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.net.URI;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Traces acquisitions: one span each, whose parent is what the request names as {@code traceparent}
 * in its metadata. The span takes that place in the request, and so in the entry in ZooKeeper:
 * those who wait, at whichever coordinator, link theirs to it. What an adopted acquisition was told
 * before belongs to the span of the coordinator that served it, and is lost if that has died.
 */
public final class Traces implements CoordinatorObserver, AutoCloseable {

  private static final String PATH = "/v1/traces";
  private static final Duration EXPORT_TIMEOUT = Duration.ofSeconds(5);
  private static final long CLOSE_SECONDS = 2;
  private static final int MAX_REQUESTED = 10_000;
  private static final int MAX_OPEN = 20_000;

  private final SdkTracerProvider provider;
  private final Tracer tracer;

  /** Requests of which nothing was heard. Some never become an acquisition. */
  private final OpenSpans requested = new OpenSpans(MAX_REQUESTED);

  private final OpenSpans open = new OpenSpans(MAX_OPEN);

  Traces(SpanProcessor processor, Attributes server) {
    provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(processor)
            .setResource(Resource.getDefault().merge(Resource.create(server)))
            .build();
    tracer = provider.get("io.lockkeeper.server");
  }

  /**
   * Traces to an OTLP endpoint over HTTP. Spans wait in a queue of bounded length, and are dropped
   * where the endpoint does not take them in time.
   *
   * @param endpoint where; without a path, {@value #PATH} is added
   * @param coordinatorId the name of this coordinator
   * @param version the program's version
   */
  public static Traces to(URI endpoint, String coordinatorId, String version) {
    boolean bare = endpoint.getPath().isEmpty() || endpoint.getPath().equals("/");
    OtlpHttpSpanExporter exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint((bare ? endpoint.resolve(PATH) : endpoint).toString())
            .setTimeout(EXPORT_TIMEOUT)
            .build();
    return new Traces(
        BatchSpanProcessor.builder(exporter).setExporterTimeout(EXPORT_TIMEOUT).build(),
        Attributes.builder()
            .put("service.name", "lockkeeper")
            .put("service.instance.id", coordinatorId)
            .put("service.version", version)
            .build());
  }

  @Override
  public AcquireCommand onRequested(UUID id, AcquireCommand command) {
    AcquisitionSpan span = AcquisitionSpan.start(tracer, command);
    var unused = requested.put(id, span);
    return command.describedBy(TraceContext.put(command.metadata(), span.context()));
  }

  @Override
  public void onOccurrence(Occurrence occurrence) {
    requested
        .remove(occurrence.id())
        .flatMap(span -> open.put(occurrence.id(), span))
        .ifPresent(forgotten -> forgotten.end("forgotten"));
    open.get(occurrence.id())
        .filter(span -> span.on(occurrence))
        .flatMap(ended -> open.remove(occurrence.id()))
        .ifPresent(ended -> {});
  }

  @Override
  public void onStalled(long nanos) {}

  /** Returns how many spans have not ended. */
  int size() {
    return requested.size() + open.size();
  }

  /**
   * Ends what goes on elsewhere as {@code left}, and sends what is not sent, for two seconds at
   * most. Called when the event loop has ended.
   */
  @Override
  public void close() {
    var unused = requested.removeAll();
    open.removeAll().forEach(span -> span.end("left"));
    var unusedToo = provider.shutdown().join(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
