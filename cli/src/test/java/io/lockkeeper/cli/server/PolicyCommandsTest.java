package io.lockkeeper.cli.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code policy check} and {@code token} say, and how they end. */
class PolicyCommandsTest {

  private static final String DEFAULTS =
      "  limits (the defaults): leases 5000, acquisitions 50000, entry-bytes 33554432, streams 20000, watches 2000,"
          + " requests-per-second 2000, metadata-bytes 4096, max-ttl 1h, max-wait 7d\n";

  @TempDir private Path directory;
  private String policy = "";
  private String tokens = "";

  @BeforeEach
  void write() throws IOException {
    policy =
        Files.writeString(
                directory.resolve("policy.yaml"),
                """
                rules:
                  - name: shop
                    identities: ["jwt:shop-*", "token:ci"]
                    locks: ["orders/*"]
                    rights: [acquire, watch]
                  - identities: ["*"]
                    locks: ["*"]
                    rights: [read]
                  - name: desk
                    identities: ["jwt:op"]
                    locks: ["*"]
                    rights: [all]
                """)
            .toString();
    tokens = directory.resolve("tokens.yaml").toString();
  }

  private Cli decide(String identity, String right, String lock) {
    return Cli.run(
        "policy",
        "check",
        "--policy",
        policy,
        "--identity",
        identity,
        "--right",
        right,
        "--lock",
        lock);
  }

  @Test
  void goodPolicyIsSummedUpRuleByRule() {
    // When
    Cli cli = Cli.run("policy", "check", "--policy", policy);

    // Then
    assertThat(cli.exitCode()).isZero();
    assertThat(cli.out())
        .isEqualTo(
            policy
                + """
                 is good: 3 rules.

                rule 1: shop
                  who     jwt:shop-*, token:ci
                  locks   orders/*
                  rights  acquire, watch

                rule 2
                  who     *
                  locks   *
                  rights  read

                rule 3: desk
                  who     jwt:op
                  locks   *
                  rights  all
                """);
  }

  @Test
  void whatIsAllowedIsSaidWithItsRule() {
    // When
    Cli cli = decide("jwt:shop-1", "acquire", "orders/42");

    // Then
    assertThat(cli.out())
        .isEqualTo("ALLOWED: jwt:shop-1 has acquire on orders/42, by rule 1 (shop)\n" + DEFAULTS);
    assertThat(cli.exitCode()).isZero();
  }

  @Test
  void limitsThatCountAreSaidWithThoseOfTheNamespace() throws IOException {
    // Given
    Files.writeString(
        Path.of(policy),
        """
        limits:
          - {identities: ["jwt:other"], leases: 1}
          - {identities: ["jwt:shop-*"], leases: 7, requests-per-second: 50, max-wait: 5m}
        namespaces:
          - {names: [orders], acquisitions: 900}
        """,
        StandardOpenOption.APPEND);

    // When // Then
    assertThat(decide("jwt:shop-1", "acquire", "orders/42").out())
        .endsWith(
            """
              limits: leases 7, acquisitions 50000, entry-bytes 33554432, streams 20000, watches 2000, \
            requests-per-second 50, metadata-bytes 4096, max-ttl 1h, max-wait 5m
              all together in namespace orders: acquisitions 900
            """);
    assertThat(decide("jwt:op", "read", "payments/1").out()).endsWith(DEFAULTS);
  }

  @Test
  void whatIsDeniedIsSaidWithTheRulesThatComeNear() {
    // When
    Cli cli = decide("jwt:shop-1", "configure", "orders/42");

    // Then
    assertThat(cli.out())
        .isEqualTo(
            """
            DENIED: jwt:shop-1 does not have configure on orders/42
              rule 1 (shop) gives other rights: acquire, watch
              rule 2 gives other rights: read
            """);
    assertThat(cli.exitCode()).isEqualTo(1);
  }

  @Test
  void whoIsMeantByNoRuleIsToldSo() {
    // When // Then
    assertThat(decide("anonymous", "read", "x").out())
        .isEqualTo("DENIED: anonymous does not have read on x\nNo rule means this identity.\n");
  }

  @Test
  void identityMayHaveSeveralNames() {
    // When
    Cli cli =
        Cli.run(
            "policy",
            "check",
            "--policy",
            policy,
            "--identity",
            "dns:a.example",
            "--identity",
            "jwt:op",
            "--right",
            "admin",
            "--lock",
            "x");

    // Then
    assertThat(cli.out())
        .isEqualTo("ALLOWED: dns:a.example = jwt:op has admin on x, by rule 3 (desk)\n" + DEFAULTS);
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "jwt:a  | aquire  | x    | --right: \"aquire\" is no right; there are read,",
        "jwt:a  | read    | a//b | --lock: must not have empty segments",
        "shop   | read    | x    | --identity: \"shop\" is nobody's name: one begins with jwt:",
        "''     | read    | x    | --identity: an identity's name has 1 to 512 bytes",
      })
  void questionThatMakesNoSenseIsBadUsage(
      String identity, String right, String lock, String message) {
    // When
    Cli cli = decide(identity, right, lock);

    // Then
    assertThat(cli.exitCode()).isEqualTo(2);
    assertThat(cli.err()).startsWith("lockkeeper: " + message);
  }

  @Test
  void halfAQuestionIsBadUsage() {
    // When
    Cli cli = Cli.run("policy", "check", "--policy", policy, "--identity", "jwt:a");

    // Then
    assertThat(cli.exitCode()).isEqualTo(2);
    assertThat(cli.err()).contains("--right", "--lock");
  }

  @Test
  void wrongPolicyIsToldWithItsLineAndRule() throws IOException {
    // Given
    Files.writeString(Path.of(policy), Files.readString(Path.of(policy)).replace("[all]", "[al]"));

    // When
    Cli cli = Cli.run("policy", "check", "--policy", policy);

    // Then
    assertThat(cli.exitCode()).isEqualTo(2);
    assertThat(cli.err())
        .startsWith(
            "lockkeeper: "
                + policy
                + ": line 12: rule 3 (desk), rights: \"al\" is no right; allowed are read,");
  }

  @Test
  void tokensAreCheckedAndThoseThatMayDoNothingAreNamed() throws IOException {
    // Given
    Files.writeString(
        Path.of(policy), "rules: [{identities: [\"token:ci\"], locks: [\"*\"], rights: [read]}]");
    Files.writeString(
        Path.of(tokens),
        "tokens:\n" + line(Cli.run("token", "ci")) + line(Cli.run("token", "old")));

    // When
    Cli cli = Cli.run("policy", "check", "--policy", policy, "--tokens", tokens);

    // Then
    assertThat(cli.exitCode()).isZero();
    assertThat(cli.out())
        .endsWith(tokens + " is good: 2 names.\n  token:old may do nothing: no rule means it\n");
  }

  private static String line(Cli token) {
    return token.out().lines().filter(line -> line.startsWith("  - ")).findFirst().orElseThrow()
        + "\n";
  }

  @Test
  void wrongTokensAreToldWithTheirLine() throws IOException {
    // Given
    Files.writeString(Path.of(tokens), "tokens:\n  - {name: ci, sha256: x}\n");

    // When
    Cli cli = Cli.run("policy", "check", "--policy", policy, "--tokens", tokens);

    // Then
    assertThat(cli.exitCode()).isEqualTo(2);
    assertThat(cli.err()).contains(tokens + ": line 2: token 1, sha256 must be 64 digits");
  }

  @Test
  void missingFileIsNamed() {
    // When
    Cli cli = Cli.run("policy", "check", "--policy", tokens);

    // Then
    assertThat(cli.exitCode()).isEqualTo(2);
    assertThat(cli.err()).isEqualTo("lockkeeper: " + tokens + ": does not exist\n");
  }

  @Test
  void policyAloneSaysWhatItCanDo() {
    // When // Then
    assertThat(Cli.run("policy").err()).contains("say what to do: check");
  }

  @Test
  void tokenIsPrintedOnceWithItsLine() {
    // When
    Cli cli = Cli.run("token", "ci");

    // Then
    assertThat(cli.exitCode()).isZero();
    assertThat(cli.out())
        .containsPattern("\n  lkt_[A-Za-z0-9_-]{43}\n")
        .containsPattern("\n  - \\{name: \"ci\", sha256: \"[0-9a-f]{64}\"}\n");
  }

  @Test
  void tokenOfANameThatCannotBeOneIsBadUsage() {
    // When
    Cli cli = Cli.run("token", "a b");

    // Then
    assertThat(cli.exitCode()).isEqualTo(2);
    assertThat(cli.err()).startsWith("lockkeeper: NAME: a token's name must be 1 to 64 letters");
  }

  @Test
  void rulesAndDecisionsAndTokensAreJsonWhenToldSo() {
    // When
    Cli rules = Cli.run("policy", "check", "--json", "--policy", policy);
    Cli denied =
        Cli.run(
            "policy",
            "check",
            "--json",
            "--policy",
            policy,
            "--identity",
            "jwt:shop-1",
            "--right",
            "admin",
            "--lock",
            "a");
    Cli token = Cli.run("token", "ci", "--json");

    // Then
    assertThat(rules.out()).hasLineCount(3).contains("{\"rule\":1,\"name\":\"shop\",");
    assertThat(denied.out()).startsWith("{\"allowed\":false,\"near\":[").hasLineCount(1);
    assertThat(denied.exitCode()).isEqualTo(1);
    assertThat(token.out()).contains("\"token\":\"", "\"line\":\"").hasLineCount(1);
  }
}
