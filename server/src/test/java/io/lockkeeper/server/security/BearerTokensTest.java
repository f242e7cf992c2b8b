package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.jwk.JWKSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which kind of token is taken for what. */
class BearerTokensTest {

  private static final JwtTokens JWTS =
      new JwtTokens(
          new JwtTokens.Terms("https://idp.example", "lockkeeper", Duration.ZERO),
          JWKSet::new,
          Clock.systemUTC());

  private final StaticTokens.Fresh ci = StaticTokens.make("ci", new SecureRandom());
  @TempDir private Path directory;

  private ReloadedFile<StaticTokens> file() throws IOException {
    Path file = directory.resolve("tokens.yaml");
    Files.writeString(file, "tokens:\n" + ci.line() + "\n");
    return new ReloadedFile<>(file, StaticTokens::parse);
  }

  @Test
  void tokenWithTwoDotsIsAJwtAndAnyOtherIsStatic() throws IOException {
    // Given
    BearerTokens both = new BearerTokens(Optional.of(JWTS), Optional.of(file()));

    // When // Then
    assertThat(both.ofBearerToken(ci.token(), "10.0.0.7")).isEqualTo(Identity.of("token:ci"));
    assertThatThrownBy(() -> both.ofBearerToken("a.b.c", "10.0.0.7")).hasMessageContaining("JWT");
    assertThatThrownBy(() -> both.ofBearerToken("abc", "10.0.0.7"))
        .isInstanceOf(UnauthenticatedException.class)
        .hasMessage("the bearer token is not known");
  }

  @Test
  void tokenOfEitherKindIsLookedUpInTheFileWhereNoJwtsAreTaken() throws IOException {
    // Given
    BearerTokens tokens = new BearerTokens(Optional.empty(), Optional.of(file()));

    // When // Then
    assertThatThrownBy(() -> tokens.ofBearerToken("a.b.c", "10.0.0.7"))
        .hasMessage("the bearer token is not known");
  }

  @Test
  void tokenThatWasTakenOutOfTheFileIsNobodys() throws IOException {
    // Given
    ReloadedFile<StaticTokens> file = file();
    BearerTokens tokens = new BearerTokens(Optional.empty(), Optional.of(file));
    tokens.ofBearerToken(ci.token(), "10.0.0.7");

    // When
    Files.writeString(
        directory.resolve("tokens.yaml"),
        "tokens: [" + StaticTokens.make("ci", new SecureRandom()).line().substring(2) + "]");
    file.look();
    file.look();

    // Then
    assertThatThrownBy(() -> tokens.ofBearerToken(ci.token(), "10.0.0.7"))
        .hasMessage("the bearer token is not known");
  }

  @Test
  void serverWithoutTokensSaysSo() {
    // Given
    BearerTokens none = new BearerTokens(Optional.empty(), Optional.empty());

    // When // Then
    assertThatThrownBy(() -> none.ofBearerToken("x", "10.0.0.7"))
        .hasMessageContaining("no bearer tokens");
  }
}
