package io.lockkeeper.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

class TextLinesTest {

  private static final long MILLIS = 1_767_323_045_678L;

  @Test
  void lineBeginsWithTheDateAndTheZoneAndEndsWithTheKeyValues() {
    // Given
    LoggerContext context = new LoggerContext();
    TextLines lines = new TextLines();
    lines.setContext(context);
    lines.start();
    LoggingEvent event =
        new LoggingEvent("", context.getLogger("io.lockkeeper.X"), Level.INFO, "hello", null, null);
    event.setTimeStamp(MILLIS);
    event.setKeyValuePairs(new ArrayList<>(List.of(new KeyValuePair("request", "r-1"))));
    // When
    String line = new String(lines.encode(event), StandardCharsets.UTF_8);
    // Then
    assertThat(line).endsWith(" INFO  X: hello request=\"r-1\"" + System.lineSeparator());
    assertThat(
            OffsetDateTime.parse(line.substring(0, line.indexOf(' '))).toInstant().toEpochMilli())
        .isEqualTo(MILLIS);
  }
}
