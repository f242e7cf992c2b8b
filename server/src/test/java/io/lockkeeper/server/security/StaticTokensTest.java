package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tokens whose digests are in a file. */
class StaticTokensTest {

  private static final String DIGEST = "ab".repeat(32);

  private static StaticTokens tokens(String yaml) {
    return StaticTokens.parse(yaml.getBytes(StandardCharsets.UTF_8));
  }

  private static StaticTokens.Fresh fresh(String name) {
    return StaticTokens.make(name, new SecureRandom());
  }

  private static StaticTokens fileOf(StaticTokens.Fresh... made) {
    StringBuilder yaml = new StringBuilder("tokens:\n");
    for (StaticTokens.Fresh each : made) {
      yaml.append("  ").append(each.line()).append('\n');
    }
    return tokens(yaml.toString());
  }

  @Test
  void freshTokenIsKnownWhereItsLineIsInTheFile() {
    // Given
    StaticTokens.Fresh ci = fresh("ci");
    StaticTokens.Fresh other = fresh("other");

    // When
    StaticTokens file = fileOf(other, ci);

    // Then
    assertThat(file.identityOf(ci.token())).contains(Identity.of("token:ci"));
    assertThat(file.identityOf(other.token())).contains(Identity.of("token:other"));
  }

  @Test
  void tokenThatIsNotInTheFileIsNobodys() {
    // Given
    StaticTokens.Fresh ci = fresh("ci");
    StaticTokens file = fileOf(ci);

    // When // Then
    assertThat(file.identityOf(fresh("ci").token())).isEmpty();
    assertThat(file.identityOf(ci.token() + "x")).isEmpty();
    assertThat(file.identityOf("")).isEmpty();
    assertThat(file.identityOf(ci.line())).isEmpty();
  }

  @Test
  void bothTokensOfOneNameAreTheSameIdentitySoThatOneCanReplaceTheOther() {
    // Given
    StaticTokens.Fresh before = fresh("ci");
    StaticTokens.Fresh after = fresh("ci");

    // When
    StaticTokens file = fileOf(before, after);

    // Then
    assertThat(file.identityOf(before.token())).isEqualTo(file.identityOf(after.token()));
    assertThat(file.identities()).containsExactly(Identity.of("token:ci"));
  }

  @Test
  void tokensHave256RandomBitsAndNoDotsAndAreNeverInTheirLine() {
    // When
    StaticTokens.Fresh one = fresh("ci");

    // Then
    assertThat(one.token()).matches("lkt_[A-Za-z0-9_-]{43}").isNotEqualTo(fresh("ci").token());
    assertThat(one.line()).doesNotContain(one.token());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".x", "a b", "a/b", "a\"b", "ä"})
  void nameThatCannotBeOneIsRefused(String name) {
    // When // Then
    assertThatThrownBy(() -> fresh(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 64 letters");
    assertThatThrownBy(() -> fresh("a".repeat(65))).hasMessageContaining("1 to 64 letters");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tokens: []                                | tokens must not be empty",
        "token: []                                 | unknown key \"token\"; allowed are tokens",
        "tokens: [{sha256: D}]                     | line 1: token 1: \"name\" is missing",
        "tokens: [{name: ci}]                      | token 1: \"sha256\" is missing",
        "tokens: [{name: ci, sha256: abc}]         | must be 64 digits",
        "tokens: [{name: ci, sha256: D0}]          | must be 64 digits",
        "tokens: [{name: ci, sha: D}]              | unknown key \"sha\"",
        "tokens: [{name: 'a b', sha256: D}]        | name must be 1 to 64 letters",
        "tokens: [{name: a, sha256: D}, {name: b, sha256: D}] | token 2, sha256: another entry has the same token",
      })
  void mistakeInTheFileIsToldWithItsPlace(String yaml, String message) {
    // When // Then
    assertThatThrownBy(() -> tokens(yaml.replace("D", "\"" + DIGEST + "\"").replace("\"0", "0\"")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void fileOfMoreTokensThanACallShouldCompareWithIsRefused() {
    // Given
    String yaml =
        IntStream.rangeClosed(0, StaticTokens.MAX_TOKENS)
            .mapToObj("- {name: a, sha256: \"%064d\"}\n"::formatted)
            .collect(Collectors.joining("", "tokens:\n", ""));

    // When // Then
    assertThatThrownBy(() -> tokens(yaml)).hasMessageContaining("more than 1000 tokens");
  }
}
