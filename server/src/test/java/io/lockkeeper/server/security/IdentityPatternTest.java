package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which identities a pattern matches. */
class IdentityPatternTest {

  @ParameterizedTest(name = "{0} matches {1}: {2}")
  @CsvSource({
    "jwt:a,                 jwt:a,                true",
    "jwt:a,                 jwt:ab,               false",
    "jwt:a,                 jwt:A,                false",
    "jwt:*,                 jwt:,                 true",
    "jwt:*,                 jwt:a.b,              true",
    "jwt:*,                 jwt:a/b,              false",
    "jwt:**,                jwt:a/b,              true",
    "dns:*.shop.example,    dns:a.shop.example,   true",
    "dns:*.shop.example,    dns:a.b.shop.example, true",
    "dns:*.shop.example,    dns:shop.example,     false",
    "dns:*.shop.example,    dns:a.shop.example.x, false",
    "spiffe://p/ns/*/sa/*,  spiffe://p/ns/a/sa/b, true",
    "spiffe://p/ns/*/sa/*,  spiffe://p/ns/a/b/sa/c, false",
    "spiffe://p/ns/**/sa/*, spiffe://p/ns/a/b/sa/c, true",
    "jwt:a*a,               jwt:a,                false",
    "jwt:a*a,               jwt:aa,               true",
    "jwt:a.c,               jwt:abc,              false",
    "*,                     spiffe://p/ns/a,      true",
    "**,                    token:ci,             true",
    "*:x,                   token:x,              true",
    "anonymous,             anonymous,            true",
    "anonymous,             token:anonymous,      false",
  })
  void starIsAnyRunWithoutASlashAndTwoStarsAreAnyRun(String pattern, String name, boolean matches) {
    // When // Then
    assertThat(new IdentityPattern(pattern).matches(Identity.of(name))).isEqualTo(matches);
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "**", "a*", "*s", "***"})
  void strangersAreMatchedByNoPatternButTheirName(String pattern) {
    // When // Then
    assertThat(new IdentityPattern(pattern).matches(Identity.ANONYMOUS)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shop", "Anonymous", "a/b", ""})
  void patternThatNobodyCanMatchIsRefused(String pattern) {
    // When // Then
    assertThatThrownBy(() -> new IdentityPattern(pattern))
        .hasMessageContaining("matches no identity");
  }

  @Test
  void patternThatIsLongerThanAnyNameIsRefused() {
    // When // Then
    assertThatThrownBy(() -> new IdentityPattern("jwt:" + "a".repeat(509)))
        .hasMessageContaining("at most 512 characters");
  }

  @Test
  void nameThatNearlyMatchesManyStarsIsDecidedAtOnce() {
    // Given: a pattern that a backtracking matcher would try for longer than anybody waits
    IdentityPattern pattern = new IdentityPattern("jwt:" + "**a".repeat(60) + "b*c");

    // When // Then
    assertThat(pattern.matches(Identity.of("jwt:" + "a".repeat(500) + "c"))).isFalse();
  }

  @Property(tries = 5_000, seed = "4711")
  void matchIsTheOneOfARegularExpression(@ForAll long seed) {
    // Given
    Random random = new Random(seed);
    String text = "x:" + text(random, "a/**");
    String name = "x:" + text(random, "a/a");

    // When
    boolean matches = new IdentityPattern(text).matches(Identity.of(name));

    // Then
    String expression = text.replace("**", "\0").replace("*", "[^/]*").replace("\0", ".*");
    assertThat(matches).as("%s on %s", text, name).isEqualTo(Pattern.matches(expression, name));
  }

  private static String text(Random random, String alphabet) {
    return IntStream.range(0, random.nextInt(8))
        .mapToObj(i -> String.valueOf(alphabet.charAt(random.nextInt(alphabet.length()))))
        .collect(Collectors.joining());
  }
}
