package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Signed;
import io.lockkeeper.server.testing.Ports;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What a server says of its protection when it starts. No ZooKeeper is needed for that. */
class SafeStartTest {

  @TempDir private Path folder;

  private final Logger logger = (Logger) LoggerFactory.getLogger(Protection.class);
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  @BeforeEach
  void listen() {
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(logged);
  }

  private static ServerConfig config(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>();
    settings.put("zookeeper", "127.0.0.1:" + Ports.free());
    settings.put("listen", "127.0.0.1:0");
    settings.put("http", "127.0.0.1:0");
    settings.putAll(more);
    return ServerConfig.of(Profile.SERVE, settings);
  }

  private static Map<String, String> tls(Signed own, Path key) {
    return Map.of("tls-cert", own.certificate().toString(), "tls-key", key.toString());
  }

  private List<String> warnings() {
    return logged.list.stream()
        .filter(event -> event.getLevel().equals(Level.WARN))
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  private static String get(LockkeeperServer server, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.httpPort() + path);
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
        .body();
  }

  @Test
  void keyOfAnotherCertificateRefusesTheStart() throws Exception {
    // Given
    Certificates ca = Certificates.authority(folder, "ca");
    Path otherKey = ca.sign("other").key();
    ServerConfig config = config(tls(ca.sign("own"), otherKey));
    // When // Then
    assertThatExceptionOfType(StartException.class)
        .isThrownBy(() -> LockkeeperServer.start(config))
        .withMessageStartingWith("TLS: " + otherKey + ": the key is not that of the certificate");
  }

  @Test
  void timeUntilACertificateExpiresIsAMetric() throws Exception {
    // Given
    Signed own = Certificates.authority(folder, "ca").sign("own");
    // When
    try (LockkeeperServer server = LockkeeperServer.start(config(tls(own, own.key())))) {
      // Then: it is valid for a day
      assertThat(get(server, "/metrics"))
          .containsPattern("lockkeeper_certificate_expiry_seconds\\{file=\"tls-cert\"} 8\\d{4}");
      assertThat(get(server, "/")).doesNotContain("insecure");
    }
    assertThat(warnings()).isEmpty();
  }

  @Test
  void serverThatIsOpenToOthersSaysSoInTheLogAndServesItsPage() throws Exception {
    // Given
    ServerConfig config = config(Map.of("listen", "0.0.0.0:0", "insecure", "true"));
    // When
    try (LockkeeperServer server = LockkeeperServer.start(config)) {
      // Then
      assertThat(get(server, "/")).contains("/page/app.js");
    }
    assertThat(warnings()).singleElement().asString().startsWith("INSECURE: whoever reaches");
  }

  @Test
  void pageIsNotOpenToOtherMachinesUnlessThatIsAskedFor() throws Exception {
    // Given: gRPC is for this machine only, and so need not ask anybody who he is
    ServerConfig config = config(Map.of("http", "0.0.0.0:0"));
    // When
    try (LockkeeperServer server = LockkeeperServer.start(config)) {
      // Then
      assertThat(get(server, "/")).startsWith("the web page names locks, and is not served");
      assertThat(get(server, "/healthz")).startsWith("alive");
      assertThat(get(server, "/readyz")).contains("\"serving\":false");
      assertThat(get(server, "/metrics")).contains("lockkeeper_leases");
    }
    assertThat(warnings()).isEmpty();
  }

  @Test
  void pageThatIsOpenToOtherMachinesIsSaidInTheLog() throws Exception {
    // Given
    ServerConfig config = config(Map.of("http", "0.0.0.0:0", "insecure", "true"));
    // When
    try (LockkeeperServer server = LockkeeperServer.start(config)) {
      // Then
      assertThat(get(server, "/")).contains("<title>Lockkeeper");
    }
    assertThat(warnings())
        .singleElement()
        .asString()
        .isEqualTo(
            "INSECURE: whoever reaches this address can see every lock, because --insecure was"
                + " given");
  }

  @Test
  void withoutAnAuthorityForPeersTheStartSaysThatNobodyIsOne() throws Exception {
    // Given
    Certificates ca = Certificates.authority(folder, "ca");
    Signed own = ca.sign("own");
    Map<String, String> settings = new HashMap<>(tls(own, own.key()));
    settings.put("tls-client-ca", ca.authority.toString());
    // When
    LockkeeperServer.start(config(settings)).close();
    // Then
    assertThat(warnings())
        .anyMatch(warning -> warning.contains("--peer-ca"))
        .anyMatch(warning -> warning.contains("--policy"));
  }
}
