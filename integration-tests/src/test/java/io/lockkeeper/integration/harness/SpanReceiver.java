package io.lockkeeper.integration.harness;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;

/** Takes spans, as a collector of OpenTelemetry does: OTLP over HTTP. */
public final class SpanReceiver implements AutoCloseable {

  private final HttpServer http;
  private final List<Span> spans = new CopyOnWriteArrayList<>();

  private SpanReceiver(HttpServer http) {
    this.http = http;
  }

  /** Starts one on a free port. */
  public static SpanReceiver start() {
    try {
      HttpServer http =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      SpanReceiver receiver = new SpanReceiver(http);
      http.createContext("/v1/traces", receiver::take);
      http.start();
      return receiver;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void take(HttpExchange exchange) throws IOException {
    boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
    try (InputStream body = exchange.getRequestBody();
        InputStream plain = zipped ? new GZIPInputStream(body) : body) {
      ExportTraceServiceRequest.parseFrom(plain).getResourceSpansList().stream()
          .flatMap(resource -> resource.getScopeSpansList().stream())
          .forEach(scope -> spans.addAll(scope.getSpansList()));
    }
    byte[] answer = ExportTraceServiceResponse.getDefaultInstance().toByteArray();
    exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
    exchange.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
    exchange.close();
  }

  /** Returns its address as a URL. */
  public String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  /** Returns what it has taken. */
  public List<Span> spans() {
    return List.copyOf(spans);
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
