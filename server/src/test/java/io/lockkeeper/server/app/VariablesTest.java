package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class VariablesTest {

  @ParameterizedTest
  @CsvSource({
    "LOCKKEEPER_MAX_WAITER, LOCKKEEPER_MAX_WAITERS",
    "LOCKKEEPER_ZOOKEPER, LOCKKEEPER_ZOOKEEPER",
    "LOCKKEEPER_LOGLEVEL, LOCKKEEPER_LOG_LEVEL",
    "LOCKKEEPER_CONFG, LOCKKEEPER_CONFIG",
    "LOCKKEEPER_ZOOKEPER_PORT, LOCKKEEPER_ZOOKEEPER_PORT",
  })
  void misspeltVariableIsRefusedWithWhatWasMeant(String name, String meant) {
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> Variables.ours(Map.of(name, "7422")))
        .withMessage("unknown environment variable " + name + "; did you mean " + meant + "?");
  }

  @Test
  void variableThatIsLikeNoneIsRefusedWithoutASuggestion() {
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> Variables.ours(Map.of("LOCKKEEPER_COLOUR", "blue")))
        .withMessage("unknown environment variable LOCKKEEPER_COLOUR");
  }

  @ParameterizedTest
  @EnumSource
  void variableOfEachSettingIsOurs(Setting setting) {
    // Given
    Map<String, String> environment = Map.of(setting.variable(), "7", "PATH", "/bin");
    // When // Then
    assertThat(Variables.ours(environment)).containsOnlyKeys(setting.variable());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "LOCKKEEPER_CONFIG",
        "LOCKKEEPER_SERVER",
        "LOCKKEEPER_AUTH_TOKEN",
        "LOCKKEEPER_LOCK",
        "LOCKKEEPER_TOKEN",
        "LOCKKEEPER_LOCK_TOKENS",
        "LOCKKEEPER_JAVA_OPTS"
      })
  void variablesOfTheOtherCommandsAreNoReasonToRefuse(String name) {
    // When // Then
    assertThat(Variables.ours(Map.of(name, "x"))).containsEntry(name, "x");
  }

  @ParameterizedTest
  @CsvSource({
    "LOCKKEEPER_SERVICE_HOST, 10.96.0.12",
    "LOCKKEEPER_SERVICE_HOST, fd00::12",
    "LOCKKEEPER_SERVICE_PORT, 7420",
    "LOCKKEEPER_SERVICE_PORT_GRPC, 7420",
    "LOCKKEEPER_PORT, tcp://10.96.0.12:7420",
    "LOCKKEEPER_PORT, tcp://[fd00::12]:7420",
    "LOCKKEEPER_PORT_7420_TCP, tcp://10.96.0.12:7420",
    "LOCKKEEPER_PORT_7420_TCP_PROTO, tcp",
    "LOCKKEEPER_PORT_7420_TCP_PORT, 7420",
    "LOCKKEEPER_PORT_7420_TCP_ADDR, 10.96.0.12",
    "LOCKKEEPER_ZOOKEEPER_SERVICE_HOST, 10.96.0.13",
    "LOCKKEEPER_ZOOKEEPER_PORT, tcp://10.96.0.13:2181",
    "LOCKKEEPER_METRICS_PORT_7421_TCP_ADDR, 10.96.0.14",
  })
  void whatKubernetesSaysOfAServiceIsLeftAlone(String name, String value) {
    // When // Then
    assertThat(Variables.ours(Map.of(name, value))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "LOCKKEEPER_SERVICE_HOST, our-host",
    "LOCKKEEPER_SERVICE_PORTS, 7420",
    "LOCKKEEPER_PORT, 7420",
    "LOCKKEEPER_PORT_TCP, tcp://10.96.0.12:7420",
    "LOCKKEEPER_PORT_7420_TCP_NAME, grpc",
  })
  void whatIsOnlyNearlyOfKubernetesIsRefused(String name, String value) {
    // When // Then
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> Variables.ours(Map.of(name, value)))
        .withMessageStartingWith("unknown environment variable " + name);
  }

  @Test
  void portOfAServiceIsNotTakenForTheSettingOfThatName() {
    // Given
    Map<String, String> environment = Map.of("LOCKKEEPER_ZOOKEEPER_PORT", "tcp://10.96.0.13:2181");
    // When
    ServerConfig config =
        ServerConfig.load(Profile.SERVE, Map.of("insecure", "true"), environment, Optional.empty());
    // Then
    assertThat(config.zookeeper().embeddedPort()).isEqualTo(7422);
  }
}
