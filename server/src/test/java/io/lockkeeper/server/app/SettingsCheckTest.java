package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Signed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsCheckTest {

  private static final String RULE =
      "rules: [{identities: [\"token:ci\"], locks: [\"*\"], rights: [read]}]";

  @TempDir private Path directory;

  private List<String> problems(Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(Map.of("listen", "127.0.0.1:7420"));
    all.putAll(settings);
    return SettingsCheck.problems(ServerConfig.of(Profile.SERVE, all));
  }

  private String file(String name, String content) throws IOException {
    return Files.writeString(directory.resolve(name), content).toString();
  }

  @Test
  void goodSettingsHaveNoProblemAndNothingIsMade() throws IOException {
    // Given
    Map<String, String> settings =
        Map.of(
            "data-dir", directory.resolve("new/home").toString(),
            "audit", directory.resolve("audit.jsonl").toString(),
            "policy", file("policy.yaml", RULE));
    // When
    List<String> problems = problems(settings);
    // Then
    assertThat(problems).isEmpty();
    assertThat(directory.resolve("new")).doesNotExist();
    assertThat(directory.resolve("audit.jsonl")).doesNotExist();
  }

  @Test
  void everyFileThatIsWrongIsToldWithItsSetting() throws IOException {
    // Given
    String plain = file("plain", "x");
    Files.createDirectory(directory.resolve("data"));
    file("data/home", "not ours");
    Map<String, String> settings =
        Map.of(
            "policy", file("policy.yaml", "rulez: []\n"),
            "tokens", file("tokens.yaml", "tokens: [1]\n"),
            "jwt-issuer", "https://issuer",
            "jwt-audience", "lockkeeper",
            "jwt-jwks", file("keys.json", "{"),
            "audit", plain + "/audit.jsonl",
            "data-dir", directory.resolve("data").toString());
    // When
    List<String> problems = problems(settings);
    // Then
    assertThat(problems)
        .extracting(problem -> problem.substring(0, problem.indexOf(':')))
        .containsExactlyInAnyOrder("--policy", "--tokens", "--jwt-jwks", "--audit", "--data-dir");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Locks-1.example.:7420", "3f2a9c:7420", "10.0.0.1:7420", "[::1]:7420"})
  void addressThatGrpcAcceptsCanBeAdvertised(String address) {
    // When
    List<String> problems = problems(Map.of("advertise", address));
    // Then
    assertThat(problems).isEmpty();
  }

  @Test
  void addressThatCannotBeAdvertisedIsAProblemAlsoAsTheDefault() {
    // When
    List<String> problems = problems(Map.of("listen", "my_host:7420", "insecure", "true"));
    // Then
    assertThat(problems)
        .singleElement()
        .asString()
        .startsWith("--advertise: give the address at which the other coordinators reach this one")
        .contains("\"my_host\" is not a host name that gRPC accepts");
  }

  @Test
  void directoryThatIsAFileIsAProblem() throws IOException {
    // When
    List<String> problems = problems(Map.of("data-dir", file("plain", "x")));
    // Then
    assertThat(problems)
        .singleElement()
        .asString()
        .startsWith("--data-dir: ")
        .endsWith("directory");
  }

  @Test
  void keyOfAnotherCertificateIsAProblemOfTls() throws Exception {
    // Given
    Certificates authority = Certificates.authority(directory, "ca");
    Signed own = authority.sign("localhost");
    Signed other = authority.sign("other");
    // When
    List<String> problems =
        problems(
            Map.of(
                "tls-cert", own.certificate().toString(),
                "tls-key", other.key().toString(),
                "tls-client-ca", authority.authority.toString()));
    // Then
    assertThat(problems).singleElement().asString().startsWith("--tls-");
  }

  @Test
  void trustStoreOfZooKeeperThatHoldsNoCertificateIsAProblem() throws IOException {
    // Given
    String broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    // When
    List<String> problems =
        problems(
            Map.of("zookeeper-tls", "true", "zookeeper-tls-trust-store", file("ca.pem", broken)));
    // Then
    assertThat(problems).singleElement().asString().startsWith("--zookeeper-tls-trust-store: ");
  }
}
