package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class JsonWriterTest {

  private static final int MAX_CHAR = 0x250;

  private static String written(Map<String, Object> object) {
    JsonWriter writer = new JsonWriter();
    object.forEach(writer::put);
    return new String(writer.toBytes(), StandardCharsets.UTF_8);
  }

  private static String byLibrary(Map<String, Object> object) {
    return new String(Json.write(object), StandardCharsets.UTF_8);
  }

  @Test
  void everyCharacterIsWrittenAsTheLibraryDoes() {
    for (int c = 0; c < Character.MAX_VALUE; c++) {
      if (!Character.isSurrogate((char) c)) {
        // Given
        Map<String, Object> object = Map.of("k", "a" + (char) c + "b");
        // When
        String written = written(object);
        // Then
        assertThat(written).isEqualTo(byLibrary(object));
      }
    }
  }

  @Test
  void everyKindOfFieldIsWrittenAsTheLibraryDoes() {
    // Given
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("text", "ü/\uD83D\uDD12\"");
    object.put("empty", "");
    object.put("long", Long.MIN_VALUE);
    object.put("int", 7);
    object.put("flag", true);
    object.put("none", Map.of());
    object.put("inner", Map.of("k\n", "v", "x", Map.of("y", 1L)));
    object.put("last", "x".repeat(10_000));
    // When
    String written = written(object);
    // Then
    assertThat(written).isEqualTo(byLibrary(object));
    assertThat(written(Map.of())).isEqualTo("{}");
  }

  @Test
  void anyTextIsWrittenAsTheLibraryDoes() {
    Random random = new Random(5);
    for (int run = 0; run < 2_000; run++) {
      // Given
      StringBuilder text = new StringBuilder();
      random.ints(random.nextInt(400), 0, MAX_CHAR).forEach(text::appendCodePoint);
      Map<String, Object> object = Map.of(text.toString(), text + "\uD83D\uDD12" + text);
      // When
      String written = written(object);
      // Then
      assertThat(written).as("run %d", run).isEqualTo(byLibrary(object));
    }
  }

  @Test
  void whatCannotBeWrittenIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new JsonWriter().put("k", List.of()))
        .withMessageContaining("not written");
  }
}
