package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {

  @ParameterizedTest
  @ValueSource(strings = {"localhost:7420", "10.0.0.1:0", "[::1]:7420", "zk-1.example.org:65535"})
  void addressIsHostAndPort(String text) {
    // When
    HostPort address = HostPort.parse(text);
    // Then
    assertThat(address).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost",
        ":7420",
        "localhost:",
        "localhost:http",
        "::1:7420",
        "a b:1",
        "a:65536"
      })
  void anythingElseIsRefused(String text) {
    // When // Then
    assertThatIllegalArgumentException().isThrownBy(() -> HostPort.parse(text));
  }

  @Test
  void listIsSeparatedByCommas() {
    // When // Then
    assertThat(HostPort.parseList("a:1,b:2, c:3"))
        .containsExactly(new HostPort("a", 1), new HostPort("b", 2), new HostPort("c", 3));
    assertThatIllegalArgumentException().isThrownBy(() -> HostPort.parseList("a:1,,b:2"));
  }
}
