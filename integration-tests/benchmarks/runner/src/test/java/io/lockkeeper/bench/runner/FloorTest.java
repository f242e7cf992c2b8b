package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FloorTest {

  @Test
  void floorIsMetAtItsLimitAndMissedBelow() {
    // Given
    Floor floor = Floor.atLeast("own-64/curator", 2.5);
    // Then
    assertThat(new Floor.Outcome(floor, 2.5).isMet()).isTrue();
    assertThat(new Floor.Outcome(floor, 2.49).isMet()).isFalse();
  }

  @Test
  void ceilingIsMetAtItsLimitAndMissedAbove() {
    // Given
    Floor ceiling = Floor.atMost("own-1/curator", 1.4);
    // Then
    assertThat(new Floor.Outcome(ceiling, 1.4).isMet()).isTrue();
    assertThat(new Floor.Outcome(ceiling, 1.41).isMet()).isFalse();
  }

  @Test
  void floorsOfWhatWasNotMeasuredHaveNoOutcome() {
    // When
    List<Floor.Outcome> outcomes =
        Floor.outcomes(Map.of("own-256/curator", 4.31, "own-256/raw-multi", 0.2));
    // Then
    assertThat(outcomes)
        .containsExactly(new Floor.Outcome(Floor.atLeast("own-256/curator", 4), 4.31));
  }

  @Test
  void everyFloorIsAboutARowThatThereIs() {
    assertThat(Floor.ALL)
        .allSatisfy(floor -> assertThat(Rows.labels()).contains(floor.ratio().split("/", 2)[0]));
  }
}
