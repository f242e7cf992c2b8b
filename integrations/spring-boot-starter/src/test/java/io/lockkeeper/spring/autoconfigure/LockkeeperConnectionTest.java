package io.lockkeeper.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.TlsServerCredentials.ClientAuth;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.ssl.SslManagerBundle;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What a server sees of an application's connection. */
class LockkeeperConnectionTest {

  private static final String PASSWORD = "changeit";

  @TempDir private static Path directory;

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  SslAutoConfiguration.class,
                  LockkeeperAutoConfiguration.class,
                  LockkeeperHealthAutoConfiguration.class))
          .withPropertyValues("lockkeeper.health.timeout=20s");

  /** Makes a certificate for localhost that is its own authority, for both sides. */
  @BeforeAll
  static void makeCertificate() throws IOException, InterruptedException {
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "own",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost",
                "-keystore",
                store().toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .start();
    String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(keytool.waitFor()).as(output).isZero();
  }

  private static Path store() {
    return directory.resolve("own.p12");
  }

  private static ServerCredentials tls(ClientAuth client)
      throws IOException, GeneralSecurityException {
    KeyStore keys = keys();
    SslManagerBundle managers =
        SslManagerBundle.from(SslStoreBundle.of(keys, PASSWORD, keys), null);
    return TlsServerCredentials.newBuilder()
        .keyManager(managers.getKeyManagers())
        .trustManager(managers.getTrustManagers())
        .clientAuth(client)
        .build();
  }

  private static KeyStore keys() throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store())) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }

  private ApplicationContextRunner withBundle(String... settings) {
    String bundle = "spring.ssl.bundle.jks.locks.";
    ApplicationContextRunner configured =
        application.withPropertyValues(
            "lockkeeper.ssl.bundle=locks",
            bundle + "keystore.location=" + store().toUri(),
            bundle + "keystore.password=" + PASSWORD,
            bundle + "truststore.location=" + store().toUri(),
            bundle + "truststore.password=" + PASSWORD);
    for (String setting : settings) {
      configured = configured.withPropertyValues(bundle + setting);
    }
    return configured;
  }

  private static Health askedBy(ApplicationContextRunner application, String server) {
    Health[] health = new Health[1];
    application
        .withPropertyValues("lockkeeper.servers=" + server)
        .run(context -> health[0] = context.getBean(LockkeeperHealthIndicator.class).health());
    return health[0];
  }

  @Test
  void tokenOfTheFileIsSentAndHealthIsUpThoughItPermitsNothing() throws IOException {
    // Given
    Path token = Files.writeString(directory.resolve("token"), "t0ken\n");
    try (RefusingServer server = new RefusingServer(InsecureServerCredentials.create())) {
      // When
      Health health =
          askedBy(
              application.withPropertyValues("lockkeeper.token-file=" + token),
              "localhost:" + server.port());
      // Then
      assertThat(health.getStatus()).isEqualTo(Status.UP);
      assertThat(server.calls())
          .singleElement()
          .satisfies(call -> assertThat(call.authorization()).contains("Bearer t0ken"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          TLSv1.2, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
          TLSv1.3, TLS_CHACHA20_POLY1305_SHA256
          """)
  void bundleGivesTheCertificatesAndTheProtocolAndTheCiphers(String protocol, String cipher)
      throws Exception {
    try (RefusingServer server = new RefusingServer(tls(ClientAuth.REQUIRE))) {
      // When
      Health health =
          askedBy(
              withBundle("options.enabled-protocols=" + protocol, "options.ciphers=" + cipher),
              "localhost:" + server.port());
      // Then
      assertThat(health.getStatus()).isEqualTo(Status.UP);
      SSLSession tls = server.calls().get(0).tls().orElseThrow();
      assertThat(tls.getProtocol()).isEqualTo(protocol);
      assertThat(tls.getCipherSuite()).isEqualTo(cipher);
      assertThat(tls.getPeerCertificates()).hasSize(1);
    }
  }

  @Test
  void bundleWithoutOptionsReachesTheServerByItsNameOnly() throws Exception {
    try (RefusingServer server = new RefusingServer(tls(ClientAuth.REQUIRE))) {
      // When
      Health known = askedBy(withBundle("protocol=TLSv1.2"), "localhost:" + server.port());
      Health other =
          askedBy(
              withBundle().withPropertyValues("lockkeeper.request-timeout=2s"),
              "127.0.0.1:" + server.port());
      // Then
      assertThat(known.getStatus()).isEqualTo(Status.UP);
      assertThat(other.getStatus()).isEqualTo(Status.DOWN);
      assertThat(server.calls())
          .singleElement()
          .satisfies(
              call -> assertThat(call.tls().orElseThrow().getProtocol()).isEqualTo("TLSv1.2"));
    }
  }

  @Test
  void bundleOfACertificateToTrustIsEnoughWhereTheServerAsksForNone() throws Exception {
    // Given
    Path trusted =
        Files.writeString(
            directory.resolve("trusted.pem"),
            "-----BEGIN CERTIFICATE-----\n"
                + Base64.getMimeEncoder().encodeToString(keys().getCertificate("own").getEncoded())
                + "\n-----END CERTIFICATE-----\n");
    try (RefusingServer server = new RefusingServer(tls(ClientAuth.NONE))) {
      // When
      Health health =
          askedBy(
              application.withPropertyValues(
                  "lockkeeper.ssl.bundle=locks",
                  "spring.ssl.bundle.pem.locks.truststore.certificate=" + trusted.toUri()),
              "localhost:" + server.port());
      // Then
      assertThat(health.getStatus()).isEqualTo(Status.UP);
      assertThat(server.calls().get(0).tls()).isPresent();
    }
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          options.ciphers=TLS_NONE,           TLS_NONE
          options.enabled-protocols=TLSv1.99, TLSv1.99
          protocol=TLSv1.98,                  TLSv1.98
          """)
  void bundleThatTheJvmCannotUseFailsTheStart(String setting, String message) {
    withBundle(setting)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining("the SSL bundle \"locks\" cannot be used")
                    .hasStackTraceContaining(message));
  }
}
