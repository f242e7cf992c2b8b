package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.web.api.Api;
import io.lockkeeper.server.web.api.ApiChannels;
import io.lockkeeper.server.web.http.HttpListener;
import io.lockkeeper.server.web.http.WebRefusals;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;

/**
 * The coordinator's HTTP endpoint: {@code /metrics} for Prometheus, {@code /healthz} (the process
 * lives), {@code /readyz} (requests for locks can be served), the web page, and the API of gRPC as
 * JSON below {@code /v1/}. What names locks is there for everybody only where gRPC asks nobody who
 * he is either, and only for this machine unless more is asked for; otherwise it is served over TLS
 * at an address of its own, to those who may see it. Started once and stopped once.
 */
public final class HttpEndpoint {

  /** Those that HTTP/2 allows: authenticated encryption, and a key exchange that keeps secrets. */
  private static final List<String> CIPHERS =
      List.of(
          "TLS_AES_128_GCM_SHA256",
          "TLS_AES_256_GCM_SHA384",
          "TLS_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

  private final JvmMetrics jvm;
  private final Pages pages;
  private final WebRefusals refusals;
  private final Optional<PagesSettings> closedSettings;
  private final HttpListener open;
  private volatile Optional<HttpListener> closed = Optional.empty();

  /**
   * Prepares an endpoint of {@code coordinator}; nothing listens yet.
   *
   * @param registry what {@code /metrics} shows; the endpoint adds the coordinator's gauges, the
   *     JVM's, and counts of what it refuses
   * @param impediment says why requests for locks do not reach the coordinator, if they do not
   * @param channels the way to the services, for the API
   */
  public HttpEndpoint(
      HttpSettings settings,
      Coordinator coordinator,
      PrometheusMeterRegistry registry,
      Supplier<Optional<String>> impediment,
      ApiChannels channels) {
    this.jvm = new JvmMetrics(registry);
    this.refusals = new WebRefusals(registry);
    Api api = new Api(channels, settings.version(), refusals);
    this.pages = new Pages(settings, coordinator, registry, impediment, api, refusals);
    this.closedSettings = settings.pages();
    this.open =
        new HttpListener(
            "HTTP",
            settings.host(),
            settings.port(),
            pages.open(settings),
            Optional.empty(),
            refusals);
  }

  /**
   * Listens and serves.
   *
   * @throws IOException if an address cannot be listened on; the message names it
   */
  public void start() throws IOException {
    try {
      open.start();
      if (closedSettings.isPresent()) {
        HttpListener listener = closed(closedSettings.get());
        closed = Optional.of(listener);
        listener.start();
      }
    } catch (IOException e) {
      stop();
      throw e;
    }
  }

  private HttpListener closed(PagesSettings settings) throws IOException {
    return new HttpListener(
        "HTTPS",
        settings.host(),
        settings.port(),
        pages.closed(settings),
        Optional.of(tls(settings)),
        refusals);
  }

  /** Returns how TLS is spoken: like that of gRPC, and no earlier connection is resumed. */
  static SslContext tls(PagesSettings settings) throws IOException {
    try {
      SslContextBuilder builder =
          SslContextBuilder.forServer(settings.keys())
              .sslProvider(SslProvider.JDK)
              .protocols("TLSv1.3", "TLSv1.2")
              .ciphers(CIPHERS)
              .sessionTimeout(1);
      settings
          .clients()
          .ifPresent(clients -> builder.trustManager(clients).clientAuth(ClientAuth.OPTIONAL));
      return builder.build();
    } catch (SSLException e) {
      throw new IOException("cannot serve pages over TLS: " + e.getMessage(), e);
    }
  }

  /**
   * Returns the port that is listened on for everybody.
   *
   * @throws IllegalStateException if the endpoint has not been started
   */
  public int port() {
    return open.port();
  }

  /**
   * Returns the port of the pages for those who may see locks.
   *
   * @throws IllegalStateException if there are none, or the endpoint has not been started
   */
  public int pagesPort() {
    return closed.orElseThrow(() -> new IllegalStateException("no pages are served")).port();
  }

  /** Stops at once. Idempotent. */
  public void stop() {
    open.stop();
    closed.ifPresent(HttpListener::stop);
    jvm.close();
  }
}
