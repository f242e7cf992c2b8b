package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.internal.transport.Target;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses and credentials. */
class TransportTest {

  @Test
  void addressesAreSplitAndGetTheDefaultPort() {
    assertThat(Target.parseList("a:1, b ,[::1]:2,[::1],dns:///c:3"))
        .extracting(Target::toString)
        .containsExactly("a:1", "b:7420", "[::1]:2", "[::1]:7420", "c:3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a:", "a:b", "a:1,,b:2", "a:65536", "::1", "a b:1", "http://a:1"})
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
}
