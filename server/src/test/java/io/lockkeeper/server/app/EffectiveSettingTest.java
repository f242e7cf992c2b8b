package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EffectiveSettingTest {

  @TempDir private Path directory;

  @Test
  void eachSettingIsToldWithItsValueAndWhereItComesFrom() throws IOException {
    // Given
    Path file = Files.writeString(directory.resolve("c.yaml"), "max-leases: 5\nmax-waiters: 6\n");
    Map<String, String> environment = Map.of("LOCKKEEPER_MAX_WAITERS", "7");
    // When
    ServerConfig config =
        ServerConfig.load(
            Profile.SERVE, Map.of("insecure", "true"), environment, Optional.of(file));
    // Then
    assertThat(config.effective())
        .contains(
            new EffectiveSetting(Setting.INSECURE, "true", "--insecure"),
            new EffectiveSetting(Setting.MAX_WAITERS, "7", "LOCKKEEPER_MAX_WAITERS"),
            new EffectiveSetting(Setting.MAX_LEASES, "5", file + ", max-leases"),
            new EffectiveSetting(Setting.ROOT, "/lockkeeper", "default"))
        .noneMatch(setting -> setting.setting() == Setting.ZOOKEEPER_PORT);
  }

  @ParameterizedTest
  @CsvSource({
    "https://me:secret@keys.example/set?code=secret, https://***@keys.example/set?***",
    "http://keys.example/set, http://keys.example/set",
    "/etc/keys@home?.json, /etc/keys@home?.json",
  })
  void whatMayBeAPasswordInAUrlIsHidden(String value, String shown) {
    // When
    EffectiveSetting setting = new EffectiveSetting(Setting.JWT_JWKS, value, "--jwt-jwks");
    // Then
    assertThat(setting.value()).isEqualTo(shown);
  }
}
