package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a policy's file may say, and how a mistake in it is told. */
class PolicyFileTest {

  private static final String GOOD_RULE = "{identities: [\"*\"], locks: [\"*\"], rights: [read]}";

  private static void assertRefused(String yaml, String message) {
    assertThatThrownBy(() -> Policy.parse(yaml.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                         | is empty",
        "'# nothing'                | is empty",
        "x                          | line 1: a policy must be a mapping",
        "[]                         | line 1: a policy must be a mapping",
        "limits: []                 | \"rules\" is missing",
        "rules: []                  | line 1: rules must not be empty",
        "rules: {}                  | line 1: rules must be a list",
        "rules:                     | line 1: rules must be a list",
        "rules: [x]                 | line 1: rule 1 must be a mapping with the keys name, identities, locks, rights",
        "rule: []                   | unknown key \"rule\"; allowed are rules, limits, namespaces",
        "'rules: [{identities: '    | line",
        "'{rules: [], rules: []}'   | \"rules\" a second time",
      })
  void fileThatIsNoPolicyIsRefused(String yaml, String message) {
    // When // Then
    assertRefused(yaml, message);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "identitys: ['*']                            | unknown key \"identitys\"; allowed are name, identities, locks, rights",
        "identities: []                              | rule 2, identities must not be empty",
        "identities: '*'                             | rule 2, identities must be a list",
        "identities: ['*', '*']                      | \"*\" a second time",
        "identities: [5]                             | identities must be text: write \"5\", in quotes",
        "identities: [true]                          | write \"true\", in quotes",
        "identities: ['']                            | identities must be text, and not empty",
        "identities: [[a]]                           | identities must be text, and not empty",
        "identities: [shop]                          | \"shop\" matches no identity",
        "identities: [*shop]                         | *shop is an alias: write text with a * in quotes",
        "identities: ['*']                           | rule 2: \"locks\" is missing",
        "identities: ['*'], locks: ['a*b']           | a * may stand at the end only",
        "identities: ['*'], locks: ['a**']           | a * may stand at the end only",
        "identities: ['*'], locks: ['a//b']          | empty segments",
        "identities: ['*'], locks: ['a//*']          | empty segments",
        "identities: ['*'], locks: ['/*']            | empty segments",
        "identities: ['*'], locks: ['a/']            | empty segments",
        "identities: ['*'], locks: ['../*']          | '.' or '..'",
        "identities: ['*'], locks: [a]               | rule 2: \"rights\" is missing",
        "identities: ['*'], locks: [a], rights: [aquire]    | \"aquire\" is no right; allowed are read, acquire-shared, acquire,",
        "identities: ['*'], locks: [a], rights: [ACQUIRE]   | \"ACQUIRE\" is no right",
        "identities: ['*'], locks: [a], rights: [all, read] | all stands alone",
        "identities: ['*'], locks: [a], rights: [read, read] | \"read\" a second time",
        "name: ok, name: ok                          | \"name\" a second time",
        "name: first, identities: ['*'], locks: [a], rights: [read] | another rule has that name",
        "name: 'a\tb'                                | a name has up to 100 letters",
        "name: shop, identities: ['*'], locks: ['a*b']      | rule 2 (shop), locks",
      })
  void mistakeInARuleIsToldWithItsLineAndTheRule(String rule, String message) {
    // Given
    String good = "{name: first, " + GOOD_RULE.substring(1);

    // When // Then
    String yaml = "rules:\n  - " + good + "\n  - {" + rule.replace('\'', '"') + "}\n";
    assertRefused(yaml, message);
    assertRefused(yaml, "line 3: ");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "limits: []                                             | limits must not be empty",
        "limits: [{leases: 1}]                                  | limits 1: \"identities\" is missing",
        "limits: [{identities: ['*'], lease: 1}]                | unknown key \"lease\"; allowed are identities, leases",
        "limits: [{identities: ['*'], leases: 0}]               | limits 1, leases must be a whole number, 1 to 1000000000",
        "limits: [{identities: ['*'], leases: -1}]              | leases must be a whole number",
        "limits: [{identities: ['*'], leases: many}]            | leases must be a whole number",
        "limits: [{identities: ['*'], leases: '5'}]             | leases must be a whole number",
        "limits: [{identities: ['*'], leases: 1e3}]             | leases must be a whole number",
        "limits: [{identities: ['*'], leases: 9999999999}]      | leases must be a whole number",
        "limits: [{identities: ['*'], freezes: 1001}]           | freezes must be a whole number, 1 to 1000",
        "limits: [{identities: ['*'], path-bytes: 0}]           | path-bytes must be a whole number, 1 to 1099511627776",
        "limits: [{identities: ['*'], metadata-bytes: 4097}]    | metadata-bytes must be a whole number, 0 to 4096",
        "limits: [{identities: ['*'], max-ttl: 60}]             | max-ttl must be text",
        "limits: [{identities: ['*'], max-ttl: 1s}]             | max-ttl must be a whole number and s, m, h or d, from 2s to 1h",
        "limits: [{identities: ['*'], max-ttl: 2h}]             | from 2s to 1h",
        "limits: [{identities: ['*'], max-wait: 8d}]            | from 0s to 7d",
        "limits: [{identities: ['*'], max-lock-delay: 2h}]      | max-lock-delay must be a whole number and s, m, h or d, from 0s to 1h",
        "limits: [{identities: ['*'], max-wait: 1h30m}]         | max-wait must be a whole number and s, m, h or d",
        "namespaces: [{names: [orders]}]                        | namespaces: \"acquisitions\" is missing",
        "namespaces: [{acquisitions: 5}]                        | namespaces: \"names\" is missing",
        "namespaces: [{names: ['a/b'], acquisitions: 5}]        | \"a/b\" is not the first part of a lock's name",
        "namespaces: [{names: ['a*'], acquisitions: 5}]         | \"a*\" is not the first part",
        "namespaces: [{names: [a], acquisitions: 5}, {names: [a], acquisitions: 6}] | \"a\" a second time",
      })
  void mistakeInLimitsIsToldWithItsLine(String limits, String message) {
    // When // Then
    String yaml = "rules: [" + GOOD_RULE + "]\n" + limits.replace('\'', '"') + "\n";
    assertRefused(yaml, message);
    assertRefused(yaml, "line 2: ");
  }

  @Test
  void secondDocumentIsRefused() {
    // When // Then
    assertRefused(
        "rules: [" + GOOD_RULE + "]\n---\nrules: []\n", "a second document: write one only");
  }

  @Test
  void fileThatIsNestedWithoutEndIsRefused() {
    // When // Then
    assertRefused("rules: " + "[".repeat(400) + "]".repeat(400), "nested more than 20 levels");
  }

  @Test
  void fileThatIsNotInUtf8IsRefused() {
    // Given
    byte[] latin = "rules: [{name: caf\u00e9}]".getBytes(StandardCharsets.ISO_8859_1);

    // When // Then
    assertThatThrownBy(() -> Policy.parse(latin)).hasMessageContaining("not in UTF-8");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0s", "30s", "1d", "7d"})
  void waitMayBeLimitedToAnythingUpToAWeek(String wait) {
    // When
    Policy policy =
        Policy.parse(
            ("rules: [" + GOOD_RULE + "]\nlimits: [{identities: [\"*\"], max-wait: " + wait + "}]")
                .getBytes(StandardCharsets.UTF_8));

    // Then
    assertThat(policy.limitsOf(Identity.of("jwt:a")).maxWait().toSeconds())
        .isEqualTo(
            wait.endsWith("d")
                ? Long.parseLong(wait.replace("d", "")) * 86_400
                : Long.parseLong(wait.replace("s", "")));
  }

  @Test
  void listOfAlmostTheLargestSizeIsRead() {
    // Given
    String identities =
        IntStream.range(0, 160_000)
            .mapToObj(i -> "\"jwt:user-" + i + "\"")
            .collect(Collectors.joining(","));
    // When
    Policy policy =
        Policy.parse(
            ("rules:\n- {identities: [" + identities + "], locks: [\"*\"], rights: [read]}")
                .getBytes(StandardCharsets.UTF_8));
    // Then
    assertThat(policy.means(Identity.of("jwt:user-159999"))).isTrue();
  }
}
