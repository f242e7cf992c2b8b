package io.lockkeeper.cli.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.StaticTokens;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TokenCommandTest {

  @Test
  void tokenIsPrintedWithTheLineForTheFileOfTheServer() {
    // When
    Cli cli = Cli.run("token", "ci");
    // Then
    String line = cli.out().substring(cli.out().indexOf("\n  - {") + 1);
    byte[] file = ("tokens:\n" + line).getBytes(StandardCharsets.UTF_8);
    assertThat(cli.exitCode()).isZero();
    assertThat(cli.out()).containsPattern("\n  lkt_[A-Za-z0-9_-]{43}\n");
    assertThat(StaticTokens.parse(file).identities())
        .extracting(Identity::name)
        .containsExactly("token:ci");
  }

  @Test
  void jsonHasTheTokenAndTheLine() {
    assertThat(Cli.run("token", "ci", "--json").out())
        .hasLineCount(1)
        .contains("\"token\":\"lkt_", "\"line\":\"- {name: ");
  }
}
