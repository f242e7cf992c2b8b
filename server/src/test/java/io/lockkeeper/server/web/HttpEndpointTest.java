package io.lockkeeper.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.server.web.http.HttpListener;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class HttpEndpointTest {

  private final AtomicReference<Optional<String>> impediment =
      new AtomicReference<>(Optional.empty());
  private final FakeCoordinator coordinator = new FakeCoordinator();
  private final HttpClient client = HttpClient.newHttpClient();

  @AutoClose("stop")
  private HttpEndpoint endpoint = endpoint(0);

  private HttpEndpoint endpoint(int port) {
    return endpoint(port, true, Optional.empty());
  }

  private HttpEndpoint endpoint(int port, boolean forThisMachine, Optional<String> advertised) {
    return new HttpEndpoint(
        new HttpSettings(
            "127.0.0.1",
            port,
            forThisMachine,
            advertised,
            "0.1.0",
            524_288,
            true,
            Optional.empty()),
        coordinator,
        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
        impediment::get,
        caller -> new NoServices());
  }

  @BeforeEach
  void start() throws IOException {
    endpoint.start();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + path))
        .timeout(Duration.ofSeconds(20));
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(request(path).build(), BodyHandlers.ofString());
  }

  @Test
  void processThatLivesIsHealthyEvenWithoutZooKeeper() throws Exception {
    // Given
    coordinator.is(ViewSamples.cutOff());
    // When
    HttpResponse<String> response = get("/healthz");
    // Then
    assertThat(response.statusCode()).isEqualTo(200);
  }

  @Test
  void coordinatorThatServesIsReady() throws Exception {
    // When
    HttpResponse<String> response = get("/readyz");
    // Then
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body().trim()).isEqualTo("{\"serving\":true,\"reasons\":[]}");
  }

  @Test
  void coordinatorThatDoesNotServeSaysWhy() throws Exception {
    // Given
    coordinator.is(ViewSamples.cutOff());
    // When
    HttpResponse<String> response = get("/readyz");
    // Then
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
    assertThat(response.body())
        .contains("\"serving\":false", "mirror", "lock session lock<1> is not connected");
  }

  @Test
  void whatKeepsRequestsFromTheCoordinatorIsNotReady() throws Exception {
    // Given
    impediment.set(Optional.of("no memory"));
    // When
    HttpResponse<String> response = get("/readyz");
    // Then
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.body()).contains("\"serving\":false", "no memory");
  }

  @Test
  void metricsShowTheCoordinatorAndTheJvm() throws Exception {
    // When
    HttpResponse<String> response = get("/metrics");
    // Then
    assertThat(response.headers().firstValue("Content-Type").orElseThrow())
        .startsWith("text/plain; version=0.0.4");
    assertThat(response.body().lines().toList())
        .contains(
            "lockkeeper_serving 1.0",
            "lockkeeper_mirror_current 1.0",
            "lockkeeper_leases 7.0",
            "lockkeeper_acquisitions 11.0",
            "lockkeeper_acquisitions_held 5.0",
            "lockkeeper_locks 4.0",
            "lockkeeper_entries 12.0",
            "lockkeeper_watches 2.0",
            "lockkeeper_deletes_owed 1.0",
            "lockkeeper_loop_delay_seconds 0.0015",
            "lockkeeper_sessions 2.0",
            "lockkeeper_sessions_usable 2.0",
            "lockkeeper_session_path_bytes 3500.0",
            "lockkeeper_session_path_bytes_largest 2500.0",
            "lockkeeper_session_path_bytes_cap 524288.0",
            "lockkeeper_coordinators 3.0",
            "lockkeeper_queue_longest 9.0",
            "lockkeeper_oldest_hold_seconds 60.0",
            "lockkeeper_oldest_wait_seconds 30.5");
    assertThat(response.body()).contains("jvm_memory_used_bytes", "process_uptime_seconds");
  }

  @Test
  void everyScrapeLooksAnew() throws Exception {
    // Given
    get("/metrics");
    // When
    coordinator.is(ViewSamples.cutOff());
    // Then
    assertThat(get("/metrics").body()).contains("lockkeeper_serving 0.0", "lockkeeper_leases 0.0");
  }

  @Test
  void pageIsServedWithAllThatItNeedsAndNothingElseBesides() throws Exception {
    // Given
    Pattern reference = Pattern.compile("(?:src|href|from|import)[=( ]\"(/page/|\\./)([^\"]+)\"");
    Set<String> found = new TreeSet<>();
    Deque<String> unread = new ArrayDeque<>(List.of("/"));
    // When: each file is asked for that another one names
    while (!unread.isEmpty()) {
      String path = unread.remove();
      HttpResponse<String> file = get(path);
      assertThat(file.statusCode()).as(path).isEqualTo(200);
      found.add(path + " " + file.headers().firstValue("Content-Type").orElseThrow());
      Matcher named = reference.matcher(path.startsWith("/page/lib/") ? "" : file.body());
      while (named.find()) {
        String next = "/page/" + named.group(2);
        if (found.stream().noneMatch(known -> known.startsWith(next)) && !unread.contains(next)) {
          unread.add(next);
        }
      }
    }
    // Then
    assertThat(found)
        .contains(
            "/ text/html; charset=utf-8",
            "/page/style.css text/css; charset=utf-8",
            "/page/app.js text/javascript; charset=utf-8",
            "/page/lib/preact.js text/javascript; charset=utf-8",
            "/page/lib/htm.js text/javascript; charset=utf-8",
            "/page/lib/uPlot.js text/javascript; charset=utf-8",
            "/page/lib/uPlot.css text/css; charset=utf-8");
    for (String other :
        List.of(
            "/page/", "/page/index.html", "/page/libraries.properties", "/page/lib/", "/page")) {
      assertThat(get(other).statusCode()).as(other).isEqualTo(404);
    }
  }

  @Test
  void browserThatHasAFileOfThePageIsToldOnlyThat() throws Exception {
    // Given
    HttpResponse<String> first = get("/page/app.js");
    String etag = first.headers().firstValue("ETag").orElseThrow();
    // When
    HttpResponse<String> again =
        client.send(
            request("/page/app.js").header("If-None-Match", "\"other\", W/" + etag).build(),
            BodyHandlers.ofString());
    HttpResponse<String> other =
        client.send(
            request("/page/app.js").header("If-None-Match", "\"other\"").build(),
            BodyHandlers.ofString());
    // Then
    assertThat(first.headers().firstValue("Cache-Control")).contains("no-cache");
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(again.headers().firstValue("ETag")).contains(etag);
    assertThat(again.headers().firstValue("Content-Length")).isEmpty();
    assertThat(other.statusCode()).isEqualTo(200);
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
  }

  @Test
  void pageRunsNothingThatStandsInItAndAsksNobodyElse() throws Exception {
    // When
    HttpResponse<String> page = get("/");
    // Then
    assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains(
            "default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self'")
        .doesNotContain("unsafe");
    assertThat(page.body())
        .contains("<noscript>", "/v1/locks")
        .doesNotContain("<style", "style=", "onclick", "https:");
  }

  @Test
  void pageCannotBeFramedOrMadeToLoadAnything() throws Exception {
    // When
    HttpResponse<String> response = get("/healthz");
    // Then
    assertThat(response.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action");
    assertThat(response.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    assertThat(response.headers().firstValue("Cache-Control")).contains("no-store");
  }

  @Test
  void pageOfThisMachineIsNotForPagesOfElsewhereInItsBrowser() throws Exception {
    assertThat(raw("GET / HTTP/1.0\r\nHost: evil.example:7421\r\n\r\n")).contains(" 421 ");
    for (String own : List.of("localhost:7421", "LOCALHOST", "127.0.0.1:7421", "[::1]:7421")) {
      assertThat(raw("GET / HTTP/1.0\r\nHost: " + own + "\r\n\r\n")).contains("200 OK");
    }
    assertThat(raw("GET /metrics HTTP/1.0\r\nHost: evil.example\r\n\r\n")).contains(" 421 ");
    assertThat(raw("GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n")).contains("200 OK");
  }

  @Test
  void pageUnderANameThatNobodyGaveTheMachineChangesNothing() throws Exception {
    // Given: where other machines come
    endpoint.stop();
    endpoint = endpoint(0, false, Optional.of("locks.example"));
    endpoint.start();
    String post = "POST /v1/freeze HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n";
    // When // Then
    for (String name : List.of("evil.example:7421", "evil.example")) {
      String asked = "Host: " + name + "\r\nOrigin: http://" + name + "\r\n\r\n{}";
      assertThat(raw(post + asked)).contains(" 421 ");
    }
    for (String name : List.of("LOCKS.example:7421", "locks.example", "10.1.2.3:7421")) {
      String asked = "Host: " + name + "\r\nOrigin: http://" + name + "\r\n\r\n{}";
      assertThat(raw(post + asked)).doesNotContain(" 421 ", " 403 ");
    }
    assertThat(raw("GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n")).contains("200 OK");
    assertThat(raw(post + "Host: evil.example\r\n\r\n{}")).doesNotContain(" 421 ");
  }

  @Test
  void unknownPathIsNotFound() throws Exception {
    assertThat(get("/etc/passwd").statusCode()).isEqualTo(404);
    assertThat(get("/metrics/").statusCode()).isEqualTo(404);
    for (String path : List.of("//", "/..", "/%2e%2e/metrics", "/%2F", "/%6Detrics", "/%00", "*")) {
      assertThat(raw("GET " + path + " HTTP/1.0\r\n\r\n")).as(path).contains(" 404 Not Found");
    }
  }

  @Test
  void onlyReadingIsAllowed() throws Exception {
    // When
    HttpResponse<String> posted =
        client.send(
            request("/").POST(HttpRequest.BodyPublishers.ofString("x")).build(),
            BodyHandlers.ofString());
    HttpResponse<String> head =
        client.send(
            request("/readyz").method("HEAD", HttpRequest.BodyPublishers.noBody()).build(),
            BodyHandlers.ofString());
    // Then
    assertThat(posted.statusCode()).isEqualTo(405);
    assertThat(posted.headers().firstValue("Allow")).contains("GET, HEAD");
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
  }

  @Test
  void moreRequestsThanThreadsAreAllAnswered() {
    // When
    List<CompletableFuture<HttpResponse<String>>> responses =
        IntStream.range(0, 100)
            .mapToObj(i -> client.sendAsync(request("/").build(), BodyHandlers.ofString()))
            .toList();
    // Then
    assertThat(responses).allSatisfy(r -> assertThat(r.join().statusCode()).isEqualTo(200));
  }

  /** Sends bytes as they are, and returns all that comes back until the end. */
  private String raw(String request) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", endpoint.port())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void requestsThatCameAtOnceAreAnsweredInTheirOrder() throws Exception {
    // Given
    String first = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    String second = "GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // When
    String answers = raw(first + second);
    // Then
    assertThat(answers).containsSubsequence("200 OK", "alive", "404 Not Found", "close");
  }

  @Test
  void requestBeyondTheLimitsIsRefusedAndTheLimitTold() throws Exception {
    assertThat(raw("GET /" + "x".repeat(5_000) + " HTTP/1.1\r\n\r\n")).contains(" 414 ", "4096");
    assertThat(raw("GET / HTTP/1.1\r\nx: " + "x".repeat(20_000) + "\r\n\r\n"))
        .contains(" 431 ", "16384");
    assertThat(raw("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"))
        .contains(" 413 ");
    assertThat(raw("nonsense\r\n\r\n")).contains(" 400 ");
  }

  @Tag("slow")
  @Test
  void requestThatTakesTooLongIsNotWaitedForAndOneThatWasNotBegunIsNotRefused() throws Exception {
    // Given: one that has been answered, and asks no more
    try (Socket answered = new Socket("127.0.0.1", endpoint.port())) {
      answered.setSoTimeout(60_000);
      answered
          .getOutputStream()
          .write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      // When: the rest never comes
      String answer = raw("GET /healthz HTTP/1.1\r\nHo");
      // Then
      assertThat(answer).isEmpty();
      assertThat(answered.getInputStream().readAllBytes()).isNotEmpty();
      assertThat(get("/metrics").body())
          .contains("lockkeeper_refused_total{limit=\"http-time\"} 1.0");
    }
  }

  @Test
  void bodyInAnyEncodingIsRefusedAndWhatFollowsIsNoRequest() throws Exception {
    for (String encoding : List.of("chunked", "identity", "gzip, chunked", "\u000bchunked", "x")) {
      // When
      String answers =
          raw(
              "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                  + encoding
                  + "\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
      // Then
      assertThat(answers).as(encoding).containsPattern("^HTTP/1.1 4(00|13) ");
      assertThat(answers).as(encoding).doesNotContain("lockkeeper_leases");
    }
  }

  @Test
  void requestThatAProxyMayHaveReadInAnotherWayIsRefused() throws Exception {
    String line = "GET /healthz HTTP/1.1\r\n";
    assertThat(raw(line + "\r\n")).startsWith("HTTP/1.1 400 ").contains("Host is missing");
    assertThat(raw(line + "Host: localhost\r\nHost: evil.example\r\n\r\n"))
        .startsWith("HTTP/1.1 400 ")
        .contains("more than one header host");
    assertThat(raw(line + "Host: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n"))
        .startsWith("HTTP/1.1 400 ")
        .contains("more than one header authorization");
    assertThat(raw("GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n")).startsWith("HTTP/1.1 505 ");
    assertThat(raw("GET /healthz HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 200 ");
    assertThat(raw(line + "Host: x\r\nx: a\u0000b\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    assertThat(raw(line + "Host: x\n\n")).startsWith("HTTP/1.1 400 ");
  }

  @Test
  void lengthsThatDisagreeOrAreNoNumbersAreRefused() throws Exception {
    for (String lengths :
        List.of(
            "Content-Length: 0\r\nContent-Length: 5",
            "Content-Length: +0",
            "Content-Length: -1",
            "Content-Length: 0x0",
            "Content-Length : 0",
            "Content-Length: 99999999999999999999")) {
      assertThat(raw("GET /healthz HTTP/1.1\r\nHost: x\r\n" + lengths + "\r\n\r\n"))
          .as(lengths)
          .startsWith("HTTP/1.1 400 ");
    }
  }

  @Test
  void connectionIsClosedAfterAHundredRequests() throws Exception {
    // When
    String answers = raw("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(150));
    // Then
    assertThat(answers.split("alive", -1)).hasSize(101);
    assertThat(answers.split("connection: close", -1)).hasSize(2);
  }

  @Test
  void connectionThatWaitsForLongestGivesWayToOneThatAsks() throws Exception {
    // Given: as many as one address may have, none of which has asked
    List<Socket> idle = new ArrayList<>();
    for (int i = 0; i < HttpListener.MAX_OF_ADDRESS; i++) {
      idle.add(new Socket("127.0.0.1", endpoint.port()));
    }
    // When
    String answer = raw("GET /healthz HTTP/1.0\r\n\r\n");
    // Then
    assertThat(answer).contains("200 OK", "alive");
    idle.get(0).setSoTimeout(60_000);
    assertThat(idle.get(0).getInputStream().read()).isEqualTo(-1);
    for (Socket socket : idle) {
      socket.close();
    }
  }

  @Test
  void portInUseIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      assertThatThrownBy(() -> endpoint(taken.getLocalPort()).start())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cannot listen for HTTP on 127.0.0.1:" + taken.getLocalPort());
    }
  }

  @Test
  void stoppedEndpointListensNoMore() {
    // Given
    HttpRequest request = request("/healthz").build();
    // When
    endpoint.stop();
    // Then
    assertThatThrownBy(() -> client.send(request, BodyHandlers.ofString()))
        .isInstanceOf(IOException.class);
  }
}
