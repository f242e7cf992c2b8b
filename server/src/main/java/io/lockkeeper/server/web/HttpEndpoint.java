package io.lockkeeper.server.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator's HTTP endpoint: {@code /metrics} for Prometheus, {@code /healthz} (the process
 * lives), {@code /readyz} (requests for locks can be served), and a status page. Started once and
 * stopped once.
 */
public final class HttpEndpoint {

  private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
  private static final int BACKLOG = 64;
  private static final int THREADS = 4;
  private static final int MAX_QUEUED = 128;

  static {
    // A client that sends or reads slowly must not keep a thread. The JDK's server takes these as
    // properties only.
    System.getProperties().putIfAbsent("sun.net.httpserver.maxReqTime", "10");
    System.getProperties().putIfAbsent("sun.net.httpserver.maxRspTime", "30");
    System.getProperties().putIfAbsent("jdk.httpserver.maxConnections", "256");
  }

  private final HttpSettings settings;
  private final Pages pages;
  private final JvmMetrics jvm;
  private final ThreadPoolExecutor threads;
  private volatile Optional<HttpServer> server = Optional.empty();

  /**
   * Prepares an endpoint of {@code coordinator}; nothing listens yet.
   *
   * @param registry what {@code /metrics} shows; the endpoint adds the coordinator's gauges and the
   *     JVM's
   */
  public HttpEndpoint(
      HttpSettings settings, Coordinator coordinator, PrometheusMeterRegistry registry) {
    this.settings = settings;
    this.pages = new Pages(settings, coordinator, registry);
    this.jvm = new JvmMetrics(registry);
    AtomicInteger number = new AtomicInteger();
    // When all is full, the thread that accepts works too, and so takes nothing new meanwhile.
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_QUEUED),
            task -> daemon(task, "lockkeeper-http-" + number.incrementAndGet()),
            new ThreadPoolExecutor.CallerRunsPolicy());
    threads.allowCoreThreadTimeOut(true);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Listens and serves.
   *
   * @throws IOException if the address cannot be listened on; the message names it
   */
  public void start() throws IOException {
    InetSocketAddress address = new InetSocketAddress(settings.host(), settings.port());
    try {
      if (address.isUnresolved()) {
        throw new IOException("unknown host");
      }
      HttpServer started = HttpServer.create(address, BACKLOG);
      started.setExecutor(threads);
      started.createContext("/", this::handle);
      started.start();
      server = Optional.of(started);
      LOG.atInfo()
          .addKeyValue("address", settings.host() + ":" + started.getAddress().getPort())
          .log("HTTP endpoint listens");
    } catch (IOException e) {
      stop();
      throw new IOException(
          "cannot listen for HTTP on "
              + settings.host()
              + ":"
              + settings.port()
              + ": "
              + e.getMessage(),
          e);
    }
  }

  /**
   * Returns the port that is listened on.
   *
   * @throws IllegalStateException if the endpoint has not been started
   */
  public int port() {
    return server
        .orElseThrow(() -> new IllegalStateException("not started"))
        .getAddress()
        .getPort();
  }

  /** Stops at once. Idempotent. */
  public void stop() {
    server.ifPresent(running -> running.stop(0));
    threads.shutdown();
    jvm.close();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      send(exchange, pageFor(exchange));
    }
  }

  private Page pageFor(HttpExchange exchange) {
    String method = exchange.getRequestMethod();
    if (!method.equals("GET") && !method.equals("HEAD")) {
      exchange.getResponseHeaders().set("Allow", "GET, HEAD");
      return Page.text(405, "only GET and HEAD\n");
    }
    try {
      return pages.at(exchange.getRequestURI().getPath());
    } catch (RuntimeException e) {
      LOG.atError().setCause(e).log("A page failed");
      return Page.text(500, "internal error; the server's log says more\n");
    }
  }

  private static void send(HttpExchange exchange, Page page) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", page.contentType());
    exchange.getResponseHeaders().set("Cache-Control", "no-store");
    exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
    exchange
        .getResponseHeaders()
        .set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
    byte[] bytes = page.body().getBytes(StandardCharsets.UTF_8);
    boolean head = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(page.status(), head ? -1 : bytes.length);
    if (!head) {
      try (OutputStream body = exchange.getResponseBody()) {
        body.write(bytes);
      }
    }
  }
}
