package io.lockkeeper.server.web.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.web.HttpEndpoint;
import io.lockkeeper.server.web.HttpSettings;
import io.lockkeeper.server.web.http.HttpListener;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.Heartbeat;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.SnapshotEnd;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The API over HTTP, in front of services that answer when told. */
class ApiTest {

  private final HttpClient client = HttpClient.newHttpClient();
  private final Services services = new Services();
  private Server server;
  private ManagedChannel channel;
  private static final Pattern UNREAD =
      Pattern.compile("lockkeeper_refused_total\\{limit=\"http-unread\"} [1-9]");

  private HttpEndpoint endpoint;

  private static <T> T next(BlockingQueue<T> calls) throws InterruptedException {
    return Optional.ofNullable(calls.poll(60, TimeUnit.SECONDS)).orElseThrow();
  }

  @BeforeEach
  void start() throws IOException {
    String name = InProcessServerBuilder.generateName();
    server = InProcessServerBuilder.forName(name).addService(services).build().start();
    channel = InProcessChannelBuilder.forName(name).directExecutor().build();
    endpoint =
        new HttpEndpoint(
            new HttpSettings(
                "127.0.0.1", 0, true, Optional.empty(), "0.1.0", 1, true, Optional.empty()),
            new FakeCoordinator(),
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
            Optional::empty,
            caller -> channel);
    endpoint.start();
  }

  @AfterEach
  void stop() {
    endpoint.stop();
    channel.shutdownNow();
    server.shutdownNow();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + path))
        .timeout(Duration.ofSeconds(20));
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(request(path).build(), BodyHandlers.ofString());
  }

  private HttpRequest post(String path, String body) {
    return request(path).POST(BodyPublishers.ofString(body)).build();
  }

  @Test
  void restOfThePathIsTheNameAndTheQueryTheOtherFields() throws Exception {
    // When
    HttpResponse<String> lock = get("/v1/locks/orders/a%20b+c%2Fd?queueLimit=7");
    // Then
    assertThat(lock.statusCode()).isEqualTo(200);
    assertThat(lock.headers().firstValue("Content-Type")).contains("application/json");
    assertThat(lock.body().trim())
        .isEqualTo("{\"lock\":{\"name\":\"orders/a b+c/d\",\"queueLength\":7}}");
  }

  @Test
  void listTakesItsParametersFromTheQuery() throws Exception {
    // When
    HttpResponse<String> page = get("/v1/locks?prefix=orders%2F&pageSize=3");
    // Then
    assertThat(page.body().trim())
        .isEqualTo("{\"locks\":[{\"name\":\"orders/\"}],\"nextPageToken\":\"next\"}");
  }

  @Test
  void whatIsNoRequestIsRefusedAndSaidWhy() throws Exception {
    assertThat(get("/v1/locks?size=3").body()).contains("INVALID_ARGUMENT", "size");
    assertThat(get("/v1/locks?pageSize=many").statusCode()).isEqualTo(400);
    assertThat(get("/v1/locks?prefix=a&prefix=b").body()).contains("prefix", "more than once");
    assertThat(client.send(post("/v1/get-lock", "{"), BodyHandlers.ofString()).statusCode())
        .isEqualTo(400);
    assertThat(client.send(post("/v1/get-lock", "{\"nam\":1}"), BodyHandlers.ofString()).body())
        .contains("the body", "nam");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"name\":\"a\"} x",
        "{\"name\":\"a\"}{}",
        "{\"name\":\"a\",\"name\":\"b\"}",
        "{'name':'a'}",
        "{name:\"a\"}",
        "{\"name\":\"a\"/**/}",
        "{\"name\":\"a\",}",
        "{\"queueLimit\":NaN}",
        "{\"name\":\"a\\ud800\"}",
        "\ufeff{}",
      })
  void bodyThatIsNotExactlyJsonIsRefused(String body) throws Exception {
    // When
    HttpResponse<String> answer = client.send(post("/v1/get-lock", body), BodyHandlers.ofString());
    // Then
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("INVALID_ARGUMENT", "the body");
  }

  @Test
  void textThatIsNotInUtf8IsRefused() throws Exception {
    // Given: two bodies that differ in one byte of Latin-1
    byte[] latin = "{\"name\":\"caf\u00e9\"}".getBytes(StandardCharsets.ISO_8859_1);
    HttpRequest.Builder post = request("/v1/get-lock").POST(BodyPublishers.ofByteArray(latin));
    // When // Then
    assertThat(client.send(post.build(), BodyHandlers.ofString()))
        .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(400))
        .satisfies(answer -> assertThat(answer.body()).contains("the body is not in UTF-8"));
    assertThat(
            client
                .send(
                    post.header("Content-Type", "application/json; charset=iso-8859-1").build(),
                    BodyHandlers.ofString())
                .statusCode())
        .isEqualTo(415);
    HttpRequest quoted =
        request("/v1/get-lock")
            .header("Content-Type", "application/json; charset=\"utf-8\"")
            .POST(BodyPublishers.ofString("{\"name\":\"caf\u00e9\"}"))
            .build();
    assertThat(client.send(quoted, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    assertThat(get("/v1/locks/caf%e9").body()).contains("the path is not in UTF-8");
    assertThat(get("/v1/locks?prefix=caf%e9").body()).contains("the query is not in UTF-8");
    assertThat(get("/v1/locks/caf%C3%A9").body()).contains("caf\u00e9");
  }

  @Test
  void pathAndQueryAreReadInOneWayOnly() throws Exception {
    assertThat(raw("GET /v1/locks/a%zz HTTP/1.1\r\nHost: localhost\r\n\r\n")).contains(" 400 ");
    assertThat(raw("GET /v1/locks/a%+a HTTP/1.1\r\nHost: localhost\r\n\r\n")).contains(" 400 ");
    assertThat(raw("GET /v1/locks/a%4 HTTP/1.1\r\nHost: localhost\r\n\r\n")).contains(" 400 ");
    assertThat(raw("GET /v1/locks/a\u00e9 HTTP/1.1\r\nHost: localhost\r\n\r\n")).contains(" 400 ");
    assertThat(raw("GET /v1/locks/a#b HTTP/1.1\r\nHost: localhost\r\n\r\n")).contains(" 400 ");
    assertThat(raw("GET /v1/locks/a|b HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .contains("the path has the character |, which must be percent-encoded");
    assertThat(raw("GET /v1/locks?prefix=a<b HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .contains("the query has the character ", ", which must be percent-encoded");
    assertThat(raw("GET /v1/locks?prefix=a%4 HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .contains("the query has a % that is not followed by two hexadecimal digits");
    assertThat(get("/v1/locks/a?name=b").body()).contains("name is in the path");
  }

  @Test
  void charactersThatBrowsersSendUnescapedInAQueryAreTaken() throws IOException {
    // When
    String answer = raw("GET /v1/locks?pageSize=a|b[c]{d}\\^` HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // Then: the value is what is wrong
    assertThat(answer).contains("a|b[c]{d}").doesNotContain("percent-encoded");
  }

  private String raw(String request) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", endpoint.port())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      socket.shutdownOutput();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void whatIsNotThereIsNotFoundAndTheOtherMethodIsNamed() throws Exception {
    assertThat(get("/v1/nothing").statusCode()).isEqualTo(404);
    assertThat(get("/v1/session").statusCode()).isEqualTo(404);
    HttpResponse<String> read = get("/v1/acquire");
    assertThat(read.statusCode()).isEqualTo(405);
    assertThat(read.headers().firstValue("Allow")).contains("POST");
  }

  @Test
  void errorOfTheCallIsAStatusAndJson() throws Exception {
    // When
    HttpResponse<String> broken = get("/v1/locks/broken");
    // Then
    assertThat(broken.statusCode()).isEqualTo(503);
    assertThat(broken.body().trim())
        .isEqualTo("{\"code\":\"UNAVAILABLE\",\"message\":\"no ZooKeeper\"}");
  }

  @Test
  void streamIsToldLineByLineAndTheCallLivesUntilTheVisitorGoes() throws Exception {
    // Given
    String body = "{\"locks\":[{\"name\":\"orders/42\"}]}";
    try (Socket visitor = new Socket("127.0.0.1", endpoint.port())) {
      visitor.setSoTimeout(60_000);
      visitor.getOutputStream().write(acquire("Content-Length: " + body.length(), body));
      Services.Call<AcquireRequest, AcquireResponse> call = next(services.acquires);
      // When
      call.answer().onNext(AcquireResponse.newBuilder().setQueued(Queued.newBuilder()).build());
      call.answer().onNext(AcquireResponse.newBuilder().setGranted(Granted.newBuilder()).build());
      // Then
      assertThat(call.request().getLocks(0).getName()).isEqualTo("orders/42");
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(visitor.getInputStream(), StandardCharsets.UTF_8));
      assertThat(lines.lines().filter(line -> line.startsWith("{")).limit(2))
          .containsExactly("{\"queued\":{}}", "{\"granted\":{}}");
      assertThat(call.answer().isCancelled()).isFalse();
      visitor.close();
      await().until(call.answer()::isCancelled);
    }
  }

  @Test
  void visitorWhoGoesBeforeAnythingWasToldEndsTheCall() throws Exception {
    // Given
    Services.Call<AcquireRequest, AcquireResponse> call;
    try (Socket visitor = new Socket("127.0.0.1", endpoint.port())) {
      visitor.getOutputStream().write(acquire("Content-Length: 2", "{}"));
      call = next(services.acquires);
      // When: he hangs up
    }
    // Then
    await().until(call.answer()::isCancelled);
  }

  @Test
  void visitorOfAStreamWhoHasMoreToSayIsCutOff() throws Exception {
    // Given
    byte[] acquire = acquire("Content-Length: 2", "{}");
    try (Socket visitor = new Socket("127.0.0.1", endpoint.port())) {
      visitor.getOutputStream().write(acquire);
      Services.Call<AcquireRequest, AcquireResponse> call = next(services.acquires);
      call.answer().onNext(AcquireResponse.newBuilder().setQueued(Queued.newBuilder()).build());
      // When
      visitor.getOutputStream().write(acquire);
      // Then
      await().until(call.answer()::isCancelled);
      assertThat(services.acquires).isEmpty();
    }
  }

  @Test
  void streamThatIsRefusedHasAStatusAndOneThatFailsLaterALastLine() throws Exception {
    // Given
    var refused = client.sendAsync(post("/v1/acquire", "{}"), BodyHandlers.ofString());
    next(services.acquires)
        .answer()
        .onError(Status.RESOURCE_EXHAUSTED.withDescription("too many").asRuntimeException());
    // When
    var failed = client.sendAsync(post("/v1/acquire", "{}"), BodyHandlers.ofString());
    Services.Call<AcquireRequest, AcquireResponse> call = next(services.acquires);
    call.answer().onNext(AcquireResponse.newBuilder().setQueued(Queued.newBuilder()).build());
    call.answer().onError(Status.UNAVAILABLE.withDescription("gone").asRuntimeException());
    // Then
    assertThat(refused.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(429);
    assertThat(failed.get(60, TimeUnit.SECONDS).body().lines())
        .containsExactly(
            "{\"queued\":{}}", "{\"error\":{\"code\":\"UNAVAILABLE\",\"message\":\"gone\"}}");
  }

  @Test
  void watchIsServerSentEventsThatAreResumedWhereTheyEnded() throws Exception {
    // Given
    HttpRequest again = request("/v1/watch?names=a&names=b").header("Last-Event-ID", "41").build();
    var response = client.sendAsync(again, BodyHandlers.ofString());
    Services.Call<WatchRequest, WatchResponse> call = next(services.watches);
    // When
    call.answer()
        .onNext(
            WatchResponse.newBuilder().setSnapshot(LockState.newBuilder().setName("a")).build());
    call.answer()
        .onNext(
            WatchResponse.newBuilder()
                .setRevision(42)
                .setSnapshotEnd(SnapshotEnd.newBuilder())
                .build());
    call.answer().onError(Status.UNAVAILABLE.asRuntimeException());
    // Then
    assertThat(call.request().getNamesList()).containsExactly("a", "b");
    assertThat(call.request().getStartRevision()).isEqualTo(41);
    assertThat(response.get(60, TimeUnit.SECONDS).headers().firstValue("Content-Type"))
        .contains("text/event-stream; charset=utf-8");
    assertThat(response.get().body().lines().filter(line -> !line.isEmpty()))
        .containsExactly(
            "data: {\"snapshot\":{\"name\":\"a\"}}",
            "id: 42",
            "data: {\"revision\":\"42\",\"snapshotEnd\":{}}",
            "event: error",
            "data: {\"code\":\"UNAVAILABLE\",\"message\":\"UNAVAILABLE\"}");
  }

  @Test
  void heartbeatIsALineOfAnAcquireAndACommentOfAWatch() throws Exception {
    // Given
    var lines =
        client.sendAsync(
            request("/v1/acquire").POST(BodyPublishers.ofString("{}")).build(),
            BodyHandlers.ofLines());
    var events = client.sendAsync(request("/v1/watch").build(), BodyHandlers.ofLines());
    StreamObserver<AcquireResponse> acquire = next(services.acquires).answer();
    StreamObserver<WatchResponse> watch = next(services.watches).answer();
    // When
    acquire.onNext(
        AcquireResponse.newBuilder().setHeartbeat(Heartbeat.getDefaultInstance()).build());
    acquire.onCompleted();
    watch.onNext(
        WatchResponse.newBuilder()
            .setRevision(7)
            .setHeartbeat(Heartbeat.getDefaultInstance())
            .build());
    watch.onCompleted();
    // Then
    assertThat(lines.join().body()).containsExactly("{\"heartbeat\":{}}");
    assertThat(events.join().body()).containsExactly(":", "");
  }

  @Test
  void watchThatHasNothingToTellBeginsAllTheSame() throws Exception {
    // When
    var response =
        client.sendAsync(
            request("/v1/watch").header("Last-Event-ID", "41").build(), BodyHandlers.ofLines());
    Services.Call<WatchRequest, WatchResponse> call = next(services.watches);
    // Then
    assertThat(response.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    call.answer().onCompleted();
  }

  @Test
  void nothingIsAskedForWhereTheStreamCouldNotBeTold() throws Exception {
    // Given
    String request = "POST /v1/acquire HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}";
    try (Socket visitor = new Socket("127.0.0.1", endpoint.port())) {
      visitor.setSoTimeout(60_000);
      // When
      visitor.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      // Then
      assertThat(new String(visitor.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .contains(" 505 ", "a stream needs HTTP/1.1");
      assertThat(services.acquires).isEmpty();
    }
  }

  @Test
  void streamBeyondThoseThatOneAddressMayHaveIsRefused() throws Exception {
    // Given
    for (int i = 0; i < HttpListener.MAX_OF_ADDRESS / 2; i++) {
      var unused = client.sendAsync(request("/v1/watch").build(), BodyHandlers.ofLines());
      var unusedToo = next(services.watches);
    }
    // When
    HttpResponse<String> refused = get("/v1/watch");
    // Then
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body().trim())
        .isEqualTo(
            "{\"code\":\"RESOURCE_EXHAUSTED\",\"message\":\"the server has as many streams as it"
                + " may have\"}");
    assertThat(services.watches).isEmpty();
  }

  @Test
  void placeOfAStreamIsGivenBackWhenItIsRefused() throws Exception {
    // When: many more than one address may have at once
    for (int i = 0; i < 200; i++) {
      var answer = client.sendAsync(post("/v1/acquire", "{}"), BodyHandlers.ofString());
      next(services.acquires).answer().onError(Status.UNAVAILABLE.asRuntimeException());
      // Then
      assertThat(answer.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
    }
  }

  @Test
  void visitorsWhoDoNotReadAreCutOffWhereTheyAreTooMuchTogether() throws Exception {
    // Given
    String watch = "GET /v1/watch HTTP/1.1\r\nHost: localhost\r\n\r\n";
    WatchResponse large =
        WatchResponse.newBuilder()
            .setSnapshot(LockState.newBuilder().setName("x".repeat(500_000)))
            .build();
    List<Socket> visitors = new ArrayList<>();
    try {
      // When: ten megabytes for each
      for (int i = 0; i < 4; i++) {
        Socket visitor = new Socket("127.0.0.1", endpoint.port());
        visitors.add(visitor);
        visitor.getOutputStream().write(watch.getBytes(StandardCharsets.US_ASCII));
        ServerCallStreamObserver<WatchResponse> answer = next(services.watches).answer();
        for (int sent = 0; sent < 20; sent++) {
          answer.onNext(large);
        }
      }
      // Then
      await().untilAsserted(() -> assertThat(get("/metrics").body()).containsPattern(UNREAD));
    } finally {
      for (Socket visitor : visitors) {
        visitor.close();
      }
    }
  }

  @Test
  void serviceIsNotReadyWhileTheVisitorReadsNothing() throws Exception {
    // Given
    String watch = "GET /v1/watch HTTP/1.1\r\nHost: localhost\r\n\r\n";
    try (Socket visitor = new Socket("127.0.0.1", endpoint.port())) {
      visitor.getOutputStream().write(watch.getBytes(StandardCharsets.US_ASCII));
      ServerCallStreamObserver<WatchResponse> answer = next(services.watches).answer();
      WatchResponse large =
          WatchResponse.newBuilder()
              .setSnapshot(LockState.newBuilder().setName("x".repeat(60_000)))
              .build();
      // When: far more is there than sockets hold
      int sent = 0;
      while (answer.isReady() && sent < 10_000) {
        answer.onNext(large);
        sent++;
        long before = System.nanoTime();
        while (!answer.isReady() && System.nanoTime() - before < 1_000_000_000L) {
          Thread.onSpinWait();
        }
      }
      // Then
      assertThat(sent).isLessThan(10_000);
      // And he who reads on hears on
      InputStream in = visitor.getInputStream();
      in.skipNBytes(sent * 50_000L);
      await().until(answer::isReady);
    }
  }

  @Test
  void pageOfAnotherSiteChangesNothing() throws Exception {
    // Given
    HttpRequest.Builder freeze =
        request("/v1/acquire").POST(BodyPublishers.ofString("{\"locks\":[]}"));
    // When
    HttpResponse<String> elsewhere =
        client.send(
            freeze.copy().header("Origin", "http://evil.example").build(), BodyHandlers.ofString());
    var here =
        client.sendAsync(
            freeze.copy().header("Origin", "http://127.0.0.1:" + endpoint.port()).build(),
            BodyHandlers.ofString());
    // Then
    assertThat(elsewhere.statusCode()).isEqualTo(403);
    next(services.acquires).answer().onCompleted();
    assertThat(here.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(services.acquires).isEmpty();
  }

  @Test
  void bodyWithoutALengthOrTooLongIsRefused() throws Exception {
    // When
    HttpResponse<String> tooLong =
        client.send(
            post("/v1/acquire", "{\"holder\":\"" + "x".repeat(70_000) + "\"}"),
            BodyHandlers.ofString());
    HttpResponse<String> chunked =
        client.send(
            request("/v1/acquire")
                .POST(BodyPublishers.ofInputStream(InputStream::nullInputStream))
                .build(),
            BodyHandlers.ofString());
    // Then
    assertThat(tooLong.statusCode()).isEqualTo(413);
    assertThat(chunked.statusCode()).isEqualTo(411);
  }

  @Test
  void visitorWhoseBodyIsRefusedBeforeItIsWholeHearsOfIt() throws Exception {
    // Given
    try (Socket visitor = new Socket("127.0.0.1", endpoint.port())) {
      visitor.setSoTimeout(60_000);
      // When: all of it is written before anything is read, more than fits on the way
      OutputStream out = visitor.getOutputStream();
      out.write(acquire("Content-Length: 900000000", ""));
      out.write(new byte[900_000]);
      // Then
      String answer =
          new String(visitor.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(answer)
          .startsWith("HTTP/1.1 413 ")
          .endsWith("the body has more than 65536 bytes\n");
    }
  }

  @Test
  void whateverFollowsARefusedRequestIsForgottenUntilItIsTooMuch() throws Exception {
    // Given
    byte[] chunks = "1\r\nx\r\n".repeat(10_000).getBytes(StandardCharsets.US_ASCII);
    try (Socket visitor = new Socket("127.0.0.1", endpoint.port())) {
      OutputStream out = visitor.getOutputStream();
      out.write(acquire("Transfer-Encoding: chunked", ""));
      // When // Then
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(
              () -> {
                for (int i = 0; i < 1_000; i++) {
                  out.write(chunks);
                }
              });
    }
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
  }

  private static byte[] acquire(String header, String body) {
    return ("POST /v1/acquire HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n" + body)
        .getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void everyCallButThoseThatTakeAStreamHasAPathOfItsOwn() {
    // When
    List<String> paths = Routes.list().stream().filter(Route::post).map(Route::path).toList();
    // Then
    assertThat(paths)
        .doesNotHaveDuplicates()
        .contains(
            "/v1/acquire",
            "/v1/force-release",
            "/v1/close-lease",
            "/v1/force-close-lease",
            "/v1/freeze")
        .doesNotContain("/v1/session", "/v1/keep-alive");
  }
}
