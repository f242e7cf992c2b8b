package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.internal.transport.Endpoint;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.client.internal.transport.Transport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses and credentials. */
class TransportTest {

  private static final String CERTIFICATE =
      """
      -----BEGIN CERTIFICATE-----
      MIIBdjCCARugAwIBAgIUdjVuZyWbd82dUAD9WPUE1sPUWOgwCgYIKoZIzj0EAwIw
      DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjUwMDQ4MzZaGA8yMTI2MTEwMTAwNDgz
      NlowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHIl
      J4l7D8RsxoUrytJ3O90Nd3TW9lgG6/DArTrMF2ZGgwbWG3lPaRoQq8tXOHUayTXm
      6lA0aBiUccLHpM+wTLKjUzBRMB0GA1UdDgQWBBTyqjPMMB5OBmNoxVbnknLqXd3u
      ZTAfBgNVHSMEGDAWgBTyqjPMMB5OBmNoxVbnknLqXd3uZTAPBgNVHRMBAf8EBTAD
      AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDomrpd1l4bh0S/DBq9O840/81IS9440pGz
      c9Zrvye67QIhAKS8k8N9255oyKsARzVreuF9LHfrEI6Xuc4wASBkkLmz
      -----END CERTIFICATE-----
      """;

  @TempDir private Path folder;

  @Test
  void addressesAreSplitAndGetTheDefaultPort() {
    assertThat(Target.parseList("a:1, b ,[::1]:2,[::1],dns:///c:3"))
        .extracting(Target::toString)
        .containsExactly("a:1", "b:7420", "[::1]:2", "[::1]:7420", "c:3");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a:", "a:b", "a:1,,b:2", "a:65536", "::1", "a b:1", "http://a:1", "my_host:1"})
  void malformedAddressIsNamed(String servers) {
    assertThatThrownBy(() -> LockkeeperClient.builder(servers))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("host:port");
  }

  @Test
  void missingCertificateFileIsNamed() {
    assertThatThrownBy(() -> LockkeeperClient.builder("a").tls(Path.of("no-such-file.pem")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no-such-file.pem");
  }

  @Test
  void tlsFilesAreReadAgainForEachConnection() throws IOException {
    // Given
    Path file = Files.writeString(folder.resolve("ca.pem"), CERTIFICATE);
    Transport transport = Transport.tls(Optional.of(file), Optional.empty());
    Endpoint server = new Endpoint("127.0.0.1:1", "127.0.0.1:1");
    transport.connect(server).shutdownNow();
    // When
    Files.delete(file);
    // Then
    assertThatThrownBy(() -> transport.connect(server))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ca.pem");
  }
}
