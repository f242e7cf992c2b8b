package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ServerConfigTest {

  private static final Map<String, String> OPEN = Map.of("insecure", "true");

  @TempDir private Path directory;

  @ParameterizedTest
  @EnumSource
  void everyDefaultIsValid(Profile profile) {
    // When
    ServerConfig config = ServerConfig.of(profile, OPEN);
    // Then
    assertThat(config.zookeeper().lockSessionTimeout()).isEqualTo(Duration.ofSeconds(30));
    assertThat(config.zookeeper().memberSessionTimeout()).isEqualTo(Duration.ofSeconds(6));
    assertThat(config.zookeeper().locksPath()).isEqualTo("/lockkeeper/locks");
    assertThat(config.limits())
        .isEqualTo(
            new ServerConfig.Limits(
                Duration.ofSeconds(15), 10_000, 100_000, Optional.of(Duration.ofHours(1))));
    assertThat(config.tls()).isEmpty();
  }

  @Test
  void devServesThisMachineOnlyUnlessTold() {
    // When // Then
    assertThat(ServerConfig.of(Profile.DEV, Map.of()).listen()).hasToString("127.0.0.1:7420");
    assertThat(ServerConfig.of(Profile.SERVE, OPEN).listen()).hasToString("0.0.0.0:7420");
  }

  @Test
  void portAloneIsAtTheHostOfTheDefault() {
    // When
    ServerConfig config = ServerConfig.of(Profile.DEV, Map.of("listen", ":17520", "http", ":0"));
    // Then
    assertThat(config.listen()).hasToString("127.0.0.1:17520");
    assertThat(config.http()).hasToString("127.0.0.1:0");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(Profile.DEV, Map.of("advertise", ":17520")))
        .withMessageContaining("--advertise");
  }

  @Test
  void onlyDevHasADataDirectoryUnlessTold() {
    // When // Then
    assertThat(ServerConfig.of(Profile.DEV, Map.of()).dataDir()).contains(Path.of("data"));
    assertThat(ServerConfig.of(Profile.SERVE, OPEN).dataDir()).isEmpty();
    assertThat(
            ServerConfig.of(Profile.SERVE, Map.of("data-dir", "/x", "insecure", "true")).dataDir())
        .contains(Path.of("/x"));
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(Profile.DEV, Map.of("data-dir", "")));
  }

  @Test
  void connectionsMayBecomeAsOldAsTheyLike() {
    // When
    ServerConfig config =
        ServerConfig.of(Profile.SERVE, Map.of("max-connection-age", "0s", "insecure", "true"));
    // Then
    assertThat(config.limits().maxConnectionAge()).isEmpty();
  }

  @Test
  void flagBeatsVariableBeatsFileBeatsDefault() throws IOException {
    // Given
    Path file = file("max-waiters: 1\nmax-leases: 2\ndefault-lease-ttl: 3s\n");
    Map<String, String> environment =
        Map.of("LOCKKEEPER_MAX_WAITERS", "10", "LOCKKEEPER_MAX_LEASES", "20");
    // When
    ServerConfig config =
        ServerConfig.load(
            Profile.SERVE,
            Map.of("max-waiters", "100", "insecure", "true"),
            environment,
            Optional.of(file));
    // Then
    assertThat(config.limits())
        .isEqualTo(
            new ServerConfig.Limits(
                Duration.ofSeconds(3), 100, 20, Optional.of(Duration.ofHours(1))));
    assertThat(config.zookeeper().connect()).isEqualTo("localhost:2181");
  }

  @Test
  void configurationFileCanBeNamedByTheEnvironment() throws IOException {
    // Given
    Path file = file("root: /elsewhere\n");
    // When
    ServerConfig config =
        ServerConfig.load(
            Profile.SERVE, OPEN, Map.of("LOCKKEEPER_CONFIG", file.toString()), Optional.empty());
    // Then
    assertThat(config.zookeeper().root()).isEqualTo("/elsewhere");
    assertThat(config.zookeeper().locksPath()).isEqualTo("/elsewhere/locks");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "max-waiters          | 0            | --max-waiters: 0 is below the minimum of 1",
        "max-waiters          | 100001       | --max-waiters: 100001 is above the maximum of 100000",
        "max-waiters          | many         | --max-waiters: \"many\" is not a whole number",
        "default-lease-ttl    | 1s           | --default-lease-ttl: 1s is below the minimum of 2s",
        "default-lease-ttl    | 2h           | --default-lease-ttl: 2h is above the maximum of 1h",
        "default-lease-ttl    | 15           | --default-lease-ttl: \"15\" is not a duration",
        "listen               | 7420         | --listen: \"7420\" is not an address",
        "advertise            | my_host:7420 | --advertise: \"my_host\" is not a host name that gRPC accepts",
        "advertise            | a.b.1c:7420  | --advertise: \"a.b.1c\" is not a host name that gRPC accepts",
        "advertise            | bücher:7420  | --advertise: \"bücher\" is not a host name that gRPC accepts",
        "advertise            | 0.0.0.0:7420 | --advertise: 0.0.0.0 is an address to listen on",
        "advertise            | [::]:7420    | --advertise: :: is an address to listen on",
        "advertise            | host:0       | --advertise: others cannot connect to port 0",
        "zookeeper            | zk:2181/root | --zookeeper: \"zk:2181/root\" has a path",
        "zookeeper            | zk           | --zookeeper: \"zk\" is not an address",
        "root                 | lockkeeper   | --root: \"lockkeeper\" is not a path",
        "root                 | /zookeeper/a | --root: /zookeeper/a belongs to ZooKeeper itself",
        "locks-path           | /a/          | --locks-path: \"/a/\" is not a path",
        "lock-session-timeout | 12s          | --lock-session-timeout: 12s must be above 12s",
        "member-session-timeout | 31s        | --member-session-timeout: 31s is above lock-session-timeout 30s",
        "max-connection-age   | 999ms        | --max-connection-age: 999ms is below the minimum of 1s",
        "peer-ca              | missing.pem  | --peer-ca: missing.pem does not exist",
        "insecure             | yes          | --insecure: \"yes\" is neither true nor false",
        "log-level            | loud         | --log-level: \"loud\" is none of error, warn",
        "log-level            | info,x       | --log-level: \"x\" is no logger and its level",
        "log-level            | info,a b=info | --log-level: \"a b=info\" is no logger and its level",
        "log-level            | info,a=loud  | --log-level: \"loud\" is none of error, warn",
        "log-level            | info,a=info,a=warn | --log-level: the logger a has two levels",
        "log-level            | ''           | --log-level: \"\" is none of error, warn",
        "log-format           | xml          | --log-format: \"xml\" is neither text nor json",
        "traces               | localhost:4318 | --traces: \"localhost:4318\" is not a URL such as",
        "traces               | ftp://a      | --traces: \"ftp://a\" is not a URL such as",
        "traces               | http:///a    | --traces: \"http:///a\" is not a URL such as",
        "traces               | http://a b   | --traces: Illegal character",
        "traces               | http://u:p@a | --traces: the URL may have no user, query or fragment",
        "traces               | http://a?k=v | --traces: the URL may have no user, query or fragment",
        "tls-cert             | missing.pem  | --tls-cert: missing.pem does not exist",
      })
  void badValueIsRefusedWithItsFlagAndTheLimit(String key, String value, String message) {
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(Profile.SERVE, Map.of(key, value)))
        .withMessageStartingWith(message);
  }

  @Test
  void levelsOfSomeLoggersStandBehindThatOfAll() {
    // When
    LogSettings logs =
        ServerConfig.of(
                Profile.SERVE,
                Map.of(
                    "insecure", "true",
                    "log-format", "json",
                    "log-level", "warn, io.grpc=error, io.lockkeeper=DEBUG"))
            .logs();
    // Then
    assertThat(logs)
        .isEqualTo(
            new LogSettings(
                LogFormat.JSON, "WARN", Map.of("io.grpc", "ERROR", "io.lockkeeper", "DEBUG")));
  }

  @Test
  void refusalNamesTheVariableOrTheFileThatGaveTheValue() throws IOException {
    // Given
    Path file = file("max-leases: 0\n");
    Map<String, String> environment = Map.of("LOCKKEEPER_MAX_LEASES", "-1");
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(
            () -> ServerConfig.load(Profile.SERVE, Map.of(), environment, Optional.of(file)))
        .withMessage("LOCKKEEPER_MAX_LEASES: -1 is below the minimum of 1");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.load(Profile.SERVE, Map.of(), Map.of(), Optional.of(file)))
        .withMessage(file + ", max-leases: 0 is below the minimum of 1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "max-waiter: 5                       | unknown setting \"max-waiter\"; did you mean max-waiters?",
        "log_level: debug                    | unknown setting \"log_level\"; did you mean log-level?",
        "colour: blue                        | unknown setting \"colour\"; see serve",
        "- max-waiters                       | must be a mapping",
        "max-waiters: [1, 2]                 | max-waiters must be one plain value",
        "'max-waiters: 1\\nmax-waiters: 2'   | line 2",
        "'max-waiters: \"1'                  | line 1",
      })
  void brokenFileIsRefused(String text, String message) throws IOException {
    // Given
    Path file = file(text.replace("\\n", "\n"));
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.load(Profile.SERVE, Map.of(), Map.of(), Optional.of(file)))
        .withMessageContaining(file.toString())
        .withMessageContaining(message);
  }

  @Test
  void missingFileIsRefused() {
    // Given
    Path file = directory.resolve("nowhere.yaml");
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.load(Profile.SERVE, Map.of(), Map.of(), Optional.of(file)))
        .withMessage("configuration file " + file + " does not exist");
  }

  @Test
  @Timeout(30)
  void pipeIsReadAsAFile() throws Exception {
    // Given
    Path pipe = directory.resolve("pipe.yaml");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Process writer =
        new ProcessBuilder("sh", "-c", "echo 'listen: 127.0.0.1:4711' > \"$0\"", pipe.toString())
            .start();
    // When
    ServerConfig config = ServerConfig.load(Profile.SERVE, OPEN, Map.of(), Optional.of(pipe));
    // Then
    assertThat(config.listen().port()).isEqualTo(4711);
    assertThat(writer.waitFor()).isZero();
  }

  @Test
  void hugeFileIsRefused() throws IOException {
    // Given
    Path huge = Files.writeString(directory.resolve("huge.yaml"), " ".repeat((1 << 20) + 1));
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.load(Profile.SERVE, Map.of(), Map.of(), Optional.of(huge)))
        .withMessageContaining("it has more than 1048576 bytes");
  }

  @Test
  void emptyFileSetsNothing() throws IOException {
    // Given
    Path file = file("# nothing\n");
    // When
    ServerConfig config = ServerConfig.load(Profile.SERVE, OPEN, Map.of(), Optional.of(file));
    // Then
    assertThat(config).isEqualTo(ServerConfig.of(Profile.SERVE, OPEN));
  }

  @Test
  void tlsNeedsCertificateAndKey() throws IOException {
    // Given
    String cert = file("-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n").toString();
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(Profile.SERVE, Map.of("tls-cert", cert)))
        .withMessage("--tls-cert: TLS needs both --tls-cert and --tls-key");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(Profile.SERVE, Map.of("tls-client-ca", cert)))
        .withMessage("--tls-client-ca: mutual TLS needs --tls-cert and --tls-key as well");
    assertThat(
            ServerConfig.of(
                    Profile.SERVE, Map.of("tls-cert", cert, "tls-key", cert, "insecure", "true"))
                .tls())
        .isPresent();
  }

  @Test
  void fileThatIsNoCertificateIsNamed() throws IOException {
    // Given
    String garbage = file("garbage").toString();
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(Profile.SERVE, Map.of("tls-cert", garbage)))
        .withMessage("--tls-cert: " + garbage + " is not a file of certificates in PEM");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(Profile.SERVE, Map.of("tls-key", garbage)))
        .withMessage("--tls-key: " + garbage + " is not an unencrypted PKCS#8 key in PEM");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SERVE | 0.0.0.0:7420   | false | false | give --tls-cert and --tls-key, and --tls-client-ca or --tokens or --jwt-jwks; or listen on 127.0.0.1",
        "SERVE | 10.0.0.1:7420  | true  | false | give --tls-client-ca or --tokens or --jwt-jwks; or",
        "SERVE | [::]:7420      | false | false | or give --insecure",
        "SERVE | 127.0.0.1.nip.io:1 | false | false | give --tls-cert",
        "DEV   | 0.0.0.0:7420   | false | false | --listen: 0.0.0.0:7420 is not for this machine only",
      })
  void addressForOthersWithoutProtectionIsRefused(
      Profile profile, String listen, boolean tls, boolean clientCa, String message)
      throws IOException {
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServerConfig.of(profile, settings(listen, tls, clientCa)))
        .withMessageStartingWith("--listen: " + listen)
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "0.0.0.0:7420, true, true",
    "127.0.0.1:7420, false, false",
    "127.1.2.3:0, false, false",
    "LOCALHOST:7420, false, false",
    "[::1]:7420, false, false",
    "[0:0:0:0:0:0:0:1]:7420, false, false",
  })
  void addressForThisMachineOrWithProtectionNeedsNoConsent(
      String listen, boolean tls, boolean clientCa) throws IOException {
    // When
    ServerConfig config = ServerConfig.of(Profile.SERVE, settings(listen, tls, clientCa));
    // Then
    assertThat(config.insecure()).isFalse();
  }

  @Test
  void consentToServeOthersWithoutProtectionComesFromAnySource() throws IOException {
    // Given
    Path file = file("insecure: true\n");
    Map<String, String> variable = Map.of("LOCKKEEPER_INSECURE", "true");
    // When // Then
    assertThat(ServerConfig.of(Profile.SERVE, OPEN).insecure()).isTrue();
    assertThat(ServerConfig.load(Profile.SERVE, Map.of(), variable, Optional.empty()).insecure())
        .isTrue();
    assertThat(ServerConfig.load(Profile.SERVE, Map.of(), Map.of(), Optional.of(file)).insecure())
        .isTrue();
  }

  private Map<String, String> settings(String listen, boolean tls, boolean clientCa)
      throws IOException {
    String pem = file("-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n").toString();
    Map<String, String> settings = new HashMap<>(Map.of("listen", listen));
    if (tls) {
      settings.putAll(Map.of("tls-cert", pem, "tls-key", pem));
    }
    if (clientCa) {
      settings.put("tls-client-ca", pem);
    }
    return settings;
  }

  private Path file(String text) throws IOException {
    return Files.writeString(Files.createTempFile(directory, "lockkeeper", ".yaml"), text);
  }
}
