package io.lockkeeper.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JsonLinesTest {

  private static final long MILLIS = 1_767_323_045_678L;

  private static String line(Optional<Throwable> thrown, KeyValuePair... pairs) {
    LoggingEvent event =
        new LoggingEvent(
            "",
            new LoggerContext().getLogger("io.lockkeeper.X"),
            Level.WARN,
            "two\nlines {}",
            thrown.orElse(null),
            new Object[] {7});
    event.setTimeStamp(MILLIS);
    event.setKeyValuePairs(new ArrayList<>(List.of(pairs)));
    return new String(new JsonLines().encode(event), StandardCharsets.UTF_8);
  }

  private static JsonNode read(String line) {
    return JsonMapper.builder().build().readTree(line);
  }

  @Test
  void eventIsOneLineWithItsKeyValuesAsFields() {
    // When
    String line =
        line(
            Optional.empty(),
            new KeyValuePair("request", "r-1"),
            new KeyValuePair("millis", 1_500L),
            new KeyValuePair("tls", true),
            new KeyValuePair("locks", List.of("a", "b")),
            new KeyValuePair("settings", Map.of("root", "/lockkeeper")));
    // Then
    assertThat(line).endsWith("}\n").hasLineCount(1);
    JsonNode object = read(line);
    assertThat(OffsetDateTime.parse(object.get("time").asString()).toInstant().toEpochMilli())
        .isEqualTo(MILLIS);
    assertThat(object.get("level").asString()).isEqualTo("WARN");
    assertThat(object.get("logger").asString()).isEqualTo("io.lockkeeper.X");
    assertThat(object.get("message").asString()).isEqualTo("two\nlines 7");
    assertThat(object.get("request").asString()).isEqualTo("r-1");
    assertThat(object.get("millis").asLong()).isEqualTo(1_500);
    assertThat(object.get("tls").isBoolean()).isTrue();
    assertThat(object.get("locks").toString()).isEqualTo("[\"a\",\"b\"]");
    assertThat(object.get("settings").get("root").asString()).isEqualTo("/lockkeeper");
    assertThat(object.has("exception")).isFalse();
  }

  @Test
  void exceptionIsAFieldWithItsStackTrace() {
    // When
    String line = line(Optional.of(new IllegalStateException("broken")));
    // Then
    assertThat(line).hasLineCount(1);
    assertThat(read(line).get("exception").asString())
        .startsWith("java.lang.IllegalStateException: broken")
        .contains("exceptionIsAFieldWithItsStackTrace");
  }

  @Test
  void keyThatIsAFieldOfEveryLineOrComesTwiceReplacesNothing() {
    // When
    JsonNode object =
        read(
            line(
                Optional.empty(),
                new KeyValuePair("level", "mine"),
                new KeyValuePair("exception", "none"),
                new KeyValuePair("lock", "a"),
                new KeyValuePair("lock", "b")));
    // Then
    assertThat(object.get("level").asString()).isEqualTo("WARN");
    assertThat(object.get("level_").asString()).isEqualTo("mine");
    assertThat(object.get("exception_").asString()).isEqualTo("none");
    assertThat(object.get("lock").asString()).isEqualTo("a");
    assertThat(object.get("lock_").asString()).isEqualTo("b");
  }
}
