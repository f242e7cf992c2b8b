package io.lockkeeper.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.StoreHealth;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.UnauthenticatedException;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.testing.ViewSamples;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.handler.ssl.SslContext;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who is served the page of a server that asks its clients who they are. */
class ClosedPagesTest {

  private final List<Audit.Entry> audited = new CopyOnWriteArrayList<>();
  private final FakeCoordinator coordinator = new FakeCoordinator();
  private Keys server;
  private Keys known;
  private PagesSettings pages;
  private HttpEndpoint endpoint;

  @BeforeEach
  void start() throws Exception {
    server = Keys.of("server");
    known = Keys.of("shop");
    pages =
        new PagesSettings(
            "127.0.0.1",
            0,
            server.manager(),
            Optional.of(known.trust()),
            chain -> Identity.of(chain.get(0).getSubjectX500Principal().getName().substring(3)),
            ClosedPagesTest::ofToken,
            audited::add);
    endpoint =
        new HttpEndpoint(
            new HttpSettings(
                "127.0.0.1", 0, true, Optional.empty(), "0.1.0", 1, false, Optional.of(pages)),
            coordinator,
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
            Optional::empty,
            caller -> new NoServices());
    endpoint.start();
  }

  @AfterEach
  void stop() {
    endpoint.stop();
  }

  private static Identity ofToken(String token, String address) {
    if (!token.equals("s3cret:")) {
      throw new UnauthenticatedException("this token is nobody's");
    }
    return Identity.of("shop");
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + endpoint.pagesPort() + path))
        .timeout(Duration.ofSeconds(20));
  }

  private static HttpClient client(SSLContext tls) {
    return HttpClient.newBuilder().sslContext(tls).build();
  }

  private HttpResponse<String> ask(String authorization) throws Exception {
    HttpRequest.Builder request = request("/");
    if (!authorization.isEmpty()) {
      request.header("Authorization", authorization);
    }
    return client(server.visitedWith()).send(request.build(), BodyHandlers.ofString());
  }

  @Test
  void visitorWithACertificateIsServedThePage() throws Exception {
    // When
    HttpResponse<String> page =
        client(server.visitedWith(known.manager()))
            .send(request("/").build(), BodyHandlers.ofString());
    // Then
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.body()).contains("/page/app.js");
  }

  @Test
  void tokenIsTakenAsABearerTokenAndAsAPassword() throws Exception {
    // Given
    String basic =
        Base64.getEncoder().encodeToString("me:s3cret:".getBytes(StandardCharsets.UTF_8));
    for (String authorization : List.of("Bearer s3cret:", "bearer s3cret:", "Basic " + basic)) {
      // When
      HttpResponse<String> page = ask(authorization);
      // Then
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body()).contains("/page/app.js");
    }
  }

  @Test
  void visitorWhoIsNobodyKnownIsAskedWhoHeIs() throws Exception {
    for (String authorization : List.of("", "Bearer wrong", "Basic ???", "Digest x")) {
      // When
      HttpResponse<String> response = ask(authorization);
      // Then
      assertThat(response.statusCode()).isEqualTo(401);
      assertThat(response.headers().firstValue("WWW-Authenticate").orElseThrow())
          .startsWith("Basic ");
      assertThat(response.body()).doesNotContain("wrong", "/page/app.js");
    }
  }

  @Test
  void everyFileOfThePageIsForVisitorsWhoAreKnown() throws Exception {
    for (String path : List.of("/", "/page/app.js", "/page/lib/preact.js")) {
      // When
      HttpResponse<String> unknown =
          client(server.visitedWith()).send(request(path).build(), BodyHandlers.ofString());
      HttpResponse<String> open =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + path))
                      .build(),
                  BodyHandlers.ofString());
      // Then
      assertThat(unknown.statusCode()).as(path).isEqualTo(401);
      assertThat(open.statusCode()).as(path).isEqualTo(404);
    }
  }

  @Test
  void visitorWhoIsNobodyKnownIsAuditedWithHisAddressAndTheReasonAndNoToken() throws Exception {
    // When
    var unused = ask("Bearer wrong");
    // Then
    assertThat(audited)
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.action()).isEqualTo("pages");
              assertThat(entry.identity()).isEqualTo(Identity.ANONYMOUS);
              assertThat(entry.peer()).startsWith("127.0.0.1:");
              assertThat(entry.result()).isEqualTo("UNAUTHENTICATED");
              assertThat(entry.message()).isEqualTo("this token is nobody's");
              assertThat(entry.toString()).doesNotContain("wrong");
            });
  }

  @Test
  void tokenThatIsNotAcceptedCountsBeforeACertificate() throws Exception {
    // When
    HttpResponse<String> response =
        client(server.visitedWith(known.manager()))
            .send(
                request("/").header("Authorization", "Bearer wrong").build(),
                BodyHandlers.ofString());
    // Then
    assertThat(response.statusCode()).isEqualTo(401);
  }

  @Test
  void openPagesNameNoLockAndSayWhereThePageIs() throws Exception {
    // When
    HttpResponse<String> response =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + "/"))
                    .build(),
                BodyHandlers.ofString());
    // Then
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).contains("HTTPS", "127.0.0.1:");
  }

  @Test
  void whatCannotBeWrittenIsNamedToNobodyThoughItIsCounted() throws Exception {
    // Given
    coordinator.is(unwritable("/lockkeeper/locks/pay%2Fa/_c_x (NoAuth)"));
    // When
    String ready =
        client(server.visitedWith())
            .send(request("/readyz").build(), BodyHandlers.ofString())
            .body();
    // Then
    assertThat(ready).contains("cannot be written as they should: 3").doesNotContain("pay");
  }

  private static CoordinatorStatus unwritable(String first) {
    CoordinatorStatus well = ViewSamples.serving();
    return new CoordinatorStatus(
        well.failed(),
        well.draining(),
        well.mirrorCurrent(),
        well.sessions(),
        well.leases(),
        well.acquisitions(),
        well.held(),
        well.locks(),
        well.entries(),
        well.watches(),
        well.streams(),
        well.deletesOwed(),
        well.loopDelayNanos(),
        new StoreHealth(Optional.empty(), 3, Optional.of(first)),
        well.extremes(),
        well.coordinators());
  }

  @Test
  void ciphersThatDoNotKeepSecretsOrDoNotAuthenticateAreNotSpoken() throws Exception {
    // Given
    SSLContext visitor = server.visitedWith();
    String[] old = {
      "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"
    };
    try (SSLSocket socket =
        (SSLSocket) visitor.getSocketFactory().createSocket("127.0.0.1", endpoint.pagesPort())) {
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      socket.setEnabledCipherSuites(old);
      // When, Then
      assertThatThrownBy(socket::startHandshake).isInstanceOf(SSLException.class);
    }
  }

  @Test
  void earlierConnectionsAreNotResumed() throws Exception {
    // When
    SslContext context = HttpEndpoint.tls(pages);
    // Then: a second is the shortest that there is
    assertThat(context.sessionContext().getSessionTimeout()).isEqualTo(1);
  }
}
