package io.lockkeeper.cli.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class SettingsReloadTest {

  private static final String NOISY = "io.lockkeeper.noisy";

  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final Logger noisy = (Logger) LoggerFactory.getLogger(NOISY);
  private final Logger logger = (Logger) LoggerFactory.getLogger(SettingsReload.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Level before = root.getLevel();

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("lockkeeper.yaml");
  }

  private void write(String text) throws IOException {
    Files.writeString(file(), text);
  }

  private ServerConfig read() {
    return ServerConfig.load(
        Profile.SERVE, Map.of("insecure", "true"), Map.of(), Optional.of(file()));
  }

  private SettingsReload reload(List<String> problems) throws IOException {
    write("log-level: info\nmax-leases: 5\n");
    return new SettingsReload(read(), this::read, () -> problems);
  }

  private List<String> told() {
    return lines.list.stream()
        .map(line -> line.getLevel() + " " + line.getFormattedMessage() + line.getKeyValuePairs())
        .toList();
  }

  @BeforeEach
  void listen() {
    logger.setLevel(Level.INFO);
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void asBefore() {
    logger.detachAppender(lines);
    logger.setLevel(null);
    noisy.setLevel(null);
    root.setLevel(before);
  }

  @Test
  void levelsAreTakenAndGivenBack() throws IOException {
    // Given
    SettingsReload reload = reload(List.of());
    write("log-level: warn," + NOISY + "=debug\nmax-leases: 5\n");
    reload.run();
    Level raised = noisy.getLevel();
    Level all = root.getLevel();
    write("log-level: error\nmax-leases: 5\n");
    // When
    reload.run();
    // Then
    assertThat(raised).isEqualTo(Level.DEBUG);
    assertThat(all).isEqualTo(Level.WARN);
    assertThat(noisy.getLevel()).isNull();
    assertThat(root.getLevel()).isEqualTo(Level.ERROR);
    assertThat(told().get(0)).contains("applied=\"[log-level=warn," + NOISY + "=debug]\"");
  }

  @Test
  void whatNeedsARestartIsSaidEachTimeAndNotTaken() throws IOException {
    // Given
    SettingsReload reload = reload(List.of());
    write("log-level: info\nmax-leases: 6\n");
    // When
    reload.run();
    reload.run();
    // Then
    assertThat(told())
        .filteredOn(line -> line.startsWith("WARN"))
        .hasSize(2)
        .allMatch(line -> line.contains("from the next start on") && line.contains("max-leases=6"));
    assertThat(told().get(0)).contains("applied=\"[]\"");
  }

  @Test
  void fileThatIsWrongChangesNothingAndIsSaid() throws IOException {
    // Given
    SettingsReload reload = reload(List.of());
    root.setLevel(Level.INFO);
    write("log-level: debug\nmax-leases: 0\n");
    // When
    reload.run();
    // Then
    assertThat(root.getLevel()).isEqualTo(Level.INFO);
    assertThat(told().get(0))
        .startsWith("ERROR the settings are wrong now")
        .contains("max-leases: 0 is below the minimum of 1");
  }

  @Test
  void filesThatTheSettingsNameAreReadAgainInEveryCase() throws IOException {
    // Given
    SettingsReload reload = reload(List.of("policy: does not exist"));
    write("max-leases: 0\n");
    // When
    reload.run();
    // Then
    assertThat(told()).last().asString().startsWith("ERROR").contains("policy: does not exist");
  }

  @Test
  void keysBehindAUrlAreNotSaidToHaveBeenReadAgain() throws IOException {
    // Given
    reload(List.of()).run();
    write("jwt-issuer: i\njwt-audience: a\njwt-jwks: https://idp.example/keys\n");
    // When
    new SettingsReload(read(), this::read, List::of).run();
    // Then
    assertThat(told())
        .filteredOn(line -> line.contains("the files that the settings name"))
        .satisfiesExactly(
            line -> assertThat(line).doesNotContain("URL"),
            line -> assertThat(line).contains("keys behind a URL are not"));
  }
}
