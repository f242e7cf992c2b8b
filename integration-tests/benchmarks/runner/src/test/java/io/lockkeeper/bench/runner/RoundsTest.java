package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class RoundsTest {

  private static final List<String> SYSTEMS = List.of("a", "b", "c", "d");

  @Test
  void everyRoundHasEverySystemOnce() {
    assertThat(Rounds.of(SYSTEMS, 10, 1))
        .hasSize(10)
        .allSatisfy(round -> assertThat(round).containsExactlyInAnyOrderElementsOf(SYSTEMS));
  }

  @Test
  void ordersDifferBetweenRoundsAndAreTheSameForTheSameSeed() {
    List<List<String>> rounds = Rounds.of(SYSTEMS, 10, 1);
    assertThat(new HashSet<>(rounds)).hasSizeGreaterThan(1);
    assertThat(Rounds.of(SYSTEMS, 10, 1)).isEqualTo(rounds);
  }
}
