package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatisticsTest {

  @Test
  void medianIsTheMiddleOneWhateverTheOrder() {
    assertThat(Statistics.median(List.of(9.0, 1.0, 5.0))).isEqualTo(5);
  }

  @Test
  void medianOfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle() {
    assertThat(Statistics.median(List.of(4.0, 100.0, 1.0, 2.0))).isEqualTo(3);
  }

  @Test
  void nothingHasNoMedian() {
    assertThatIllegalArgumentException().isThrownBy(() -> Statistics.median(List.of()));
  }

  @Test
  void oneWildRoundMovesNeitherTheMedianNorTheUsualDistanceFromIt() {
    // When
    Statistics statistics = Statistics.of(List.of(10.0, 12.0, 11.0, 1_000.0, 9.0));
    // Then
    assertThat(statistics).isEqualTo(new Statistics(11, 9, 1_000, 1));
  }
}
