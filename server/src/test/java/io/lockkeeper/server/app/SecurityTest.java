package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Authority;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.server.security.StaticTokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the settings of security come to. */
class SecurityTest {

  private static final String RULE =
      "rules: [{identities: [\"token:%s\"], locks: [\"*\"], rights: [read]}]";

  @TempDir private Path directory;

  private String file(String name, String content) throws IOException {
    return Files.writeString(directory.resolve(name), content).toString();
  }

  private static SecurityConfig config(String... settings) {
    // For this machine only: else the start is refused for what this test is not about.
    Map<String, String> flags = new HashMap<>(Map.of("listen", "127.0.0.1:7420"));
    for (int i = 0; i < settings.length; i += 2) {
      flags.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(Profile.SERVE, flags).security();
  }

  @Test
  void withoutSettingsEverybodyMayDoEverythingAndNothingIsRecorded() {
    // When
    SecurityConfig config = config();

    // Then
    assertThat(config.identifiesByToken()).isFalse();
    try (Security security = Security.open(config)) {
      assertThat(security.authority()).isSameAs(Authority.OPEN);
      assertThat(security.audit()).isSameAs(Audit.NONE);
      assertThat(security.problems()).isEmpty();
      assertThatThrownBy(() -> security.authenticator().ofBearerToken("x", "10.0.0.7"))
          .hasMessageContaining("no bearer tokens");
    }
  }

  @Test
  void filesAreInForceAndAreReadAgain() throws IOException {
    // Given
    StaticTokens.Fresh token = StaticTokens.make("ci", new SecureRandom());
    String policy = file("policy", RULE.formatted("ci"));
    String tokens = file("tokens", "tokens:\n" + token.line());
    SecurityConfig config = config("policy", policy, "tokens", tokens);
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    try (Security security = Security.open(config)) {
      Identity ci = security.authenticator().ofBearerToken(token.token(), "10.0.0.7");
      boolean before = security.authority().permitsAll(ci, Right.READ, "");

      // When
      security.start(timer);
      file("policy", RULE.formatted("other"));

      // Then
      assertThat(config.identifiesByToken()).isTrue();
      assertThat(before).isTrue();
      Awaitility.await().until(() -> !security.authority().permitsAll(ci, Right.READ, ""));
    }
    timer.shutdownNow();
  }

  @Test
  void fileThatBecomesWrongIsAProblem() throws IOException {
    // Given
    String policy = file("policy", RULE.formatted("ci"));
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    try (Security security = Security.open(config("policy", policy))) {
      // When
      security.start(timer);
      file("policy", "rules: []");

      // Then
      Awaitility.await().until(() -> !security.problems().isEmpty());
      assertThat(security.problems()).containsExactly("policy: line 1: rules must not be empty");
    }
    timer.shutdownNow();
  }

  @Test
  void auditIsWrittenUntilItIsClosed() throws IOException {
    // Given
    Path audit = directory.resolve("audit.log");
    Security security = Security.open(config("audit", audit.toString()));

    // When
    security
        .audit()
        .record(new Audit.Entry("a", Identity.of("jwt:a"), "p", "OK", "", Map.of("lock", "x")));
    security.close();

    // Then
    assertThat(Files.readAllLines(audit)).singleElement().asString().contains("\"action\":\"a\"");
    assertThat(security.auditDropped()).isZero();
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "policy         | missing.yaml       | --policy: missing.yaml does not exist",
        "tokens         | missing.yaml       | --tokens: missing.yaml does not exist",
        "jwt-issuer     | https://idp        | --jwt-audience: JWTs need --jwt-issuer, --jwt-audience and --jwt-jwks",
        "jwt-audience   | a                  | --jwt-issuer: JWTs need",
        "jwt-jwks       | http://            | JWTs need",
        "jwt-clock-skew | 6m                 | --jwt-clock-skew: 6m is above the maximum of 5m",
        "audit-max-size | 100                | --audit-max-size: \"100\" is not a size",
        "audit-max-size | 1KB                | --audit-max-size: 1KB is not within 1MB to 10GB",
        "audit-max-size | 11GB               | --audit-max-size: 11GB is not within 1MB to 10GB",
        "audit-keep     | -1                 | --audit-keep: -1 is below the minimum of 0",
      })
  void wrongSettingIsNamed(String key, String value, String message) {
    // When // Then
    assertThatThrownBy(() -> config(key, value))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"http://, is not a URL", "https:///keys, has no host", "https://a b/, is not a URL"})
  void urlThatIsNoneIsRefused(String url, String message) {
    // When // Then
    assertThatThrownBy(() -> config("jwt-issuer", "i", "jwt-audience", "a", "jwt-jwks", url))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("--jwt-jwks")
        .hasMessageContaining(message);
  }

  @Test
  void wrongContentOfAFileIsAnErrorOfItsSetting() throws IOException {
    // Given
    String wrong = file("wrong", "x");

    // When // Then
    assertThatThrownBy(() -> Security.open(config("policy", wrong)))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "--policy: "
                + wrong
                + ": line 1: a policy must be a mapping with the keys rules, limits, namespaces");
    assertThatThrownBy(() -> Security.open(config("tokens", wrong)))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("--tokens: " + wrong);
    assertThatThrownBy(
            () -> Security.open(config("jwt-issuer", "i", "jwt-audience", "a", "jwt-jwks", wrong)))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("--jwt-jwks: " + wrong);
    assertThatThrownBy(() -> Security.open(config("audit", directory + "/no/such/file")))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("--audit: cannot be opened");
  }
}
