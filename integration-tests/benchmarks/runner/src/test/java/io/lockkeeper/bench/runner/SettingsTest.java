package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {

  private static final List<String> ROWS = List.of("own-1", "hot-64");

  @Test
  void withoutAWordAllIsMeasuredAndWritten() {
    // When
    Settings settings = Settings.of(Map.of(), ROWS, ROWS);
    // Then
    assertThat(settings.rows()).isEqualTo(ROWS);
    assertThat(settings.subjects()).containsExactly(Subject.values());
    assertThat(settings.attacks()).isEqualTo(HostileRow.ATTACKS);
    assertThat(settings.writes()).isTrue();
    assertThat(settings.checks()).isFalse();
  }

  @Test
  void selectionIsNotWrittenUnlessToldTo() {
    assertThat(Settings.of(Map.of("ROWS", "own-1"), ROWS, ROWS).writes()).isFalse();
    assertThat(Settings.of(Map.of("SYSTEMS", "curator"), ROWS, ROWS).writes()).isFalse();
    assertThat(Settings.of(Map.of("ROWS", "own-1", "WRITE", "1"), ROWS, ROWS).writes()).isTrue();
  }

  @Test
  void systemsAndRowsAreListsOfLabels() {
    // When
    Settings settings =
        Settings.of(Map.of("ROWS", "hot-64, own-1", "SYSTEMS", "raw-async,curator"), ROWS, ROWS);
    // Then
    assertThat(settings.rows()).containsExactly("hot-64", "own-1");
    assertThat(settings.subjects()).containsExactly(Subject.RAW_ASYNC, Subject.CURATOR);
  }

  @Test
  void unknownRowsSystemsAndNumbersAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settings.of(Map.of("ROWS", "own-2"), ROWS, ROWS))
        .withMessageContaining("own-2");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settings.of(Map.of("SYSTEMS", "chubby"), ROWS, ROWS))
        .withMessageContaining("chubby");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settings.of(Map.of("BENCH_SECONDS", "few"), ROWS, ROWS))
        .withMessageContaining("BENCH_SECONDS");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settings.of(Map.of("ATTACKS", "locks,charm"), ROWS, ROWS))
        .withMessageContaining("charm");
  }
}
