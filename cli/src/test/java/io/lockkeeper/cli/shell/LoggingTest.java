package io.lockkeeper.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.app.LogFormat;
import io.lockkeeper.server.app.LogSettings;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LoggingTest {

  private static final String NAME = "com.example.loud";

  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final Logger logger = (Logger) LoggerFactory.getLogger(NAME);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Level before = root.getLevel();

  @AfterEach
  void asBefore() {
    Logging.change(new LogSettings(LogFormat.TEXT, before.toString(), Map.of()));
    logger.detachAppender(lines);
    logger.setLevel(null);
  }

  @Test
  void whatIsLoggedByTheLoggingOfJavaComesToTheSameLog() {
    // Given
    Logging.level("INFO");
    logger.setLevel(Level.WARN);
    lines.start();
    logger.addAppender(lines);
    // When
    java.util.logging.Logger.getLogger(NAME).warning("from elsewhere");
    java.util.logging.Logger.getLogger(NAME).info("not asked for");
    // Then
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly("from elsewhere");
  }

  @Test
  void levelOfALoggerThatIsNotNamedAnyMoreIsWhatItWas() {
    // Given
    logger.setLevel(Level.ERROR);
    Logging.change(new LogSettings(LogFormat.TEXT, "WARN", Map.of(NAME, "TRACE")));
    Level named = logger.getLevel();
    // When
    Logging.change(new LogSettings(LogFormat.TEXT, "INFO", Map.of()));
    // Then
    assertThat(named).isEqualTo(Level.TRACE);
    assertThat(logger.getLevel()).isEqualTo(Level.ERROR);
    assertThat(root.getLevel()).isEqualTo(Level.INFO);
  }
}
