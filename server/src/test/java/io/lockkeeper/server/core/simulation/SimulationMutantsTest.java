package io.lockkeeper.server.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the test: what is planted, the simulation finds, within few seeds. */
@Tag("slow")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class SimulationMutantsTest {

  private static final int SEEDS = 2_000;

  @ParameterizedTest
  @EnumSource(Sim.Mutant.class)
  void simulationFinds(Sim.Mutant mutant) {
    Map<Sim.Mutant, String> found = new EnumMap<>(Sim.Mutant.class);
    for (long seed = 1; seed <= SEEDS && found.isEmpty(); seed++) {
      try {
        Sim.run(seed, Set.of(mutant));
      } catch (AssertionError error) {
        if (isClean(seed)) {
          found.put(mutant, error.getMessage());
        }
      }
    }
    System.out.println("simulation: " + mutant + " found: " + found.get(mutant));
    assertThat(found).as("what %d seeds found", SEEDS).containsKey(mutant);
    assertThat(found.get(mutant)).contains("seed");
  }

  /** What breaks without anything planted says nothing of what was planted. */
  private static boolean isClean(long seed) {
    try {
      return Sim.run(seed, Set.of()).steps > 0;
    } catch (AssertionError broken) {
      return false;
    }
  }

  @Test
  void withoutAMutantTheSameSeedsFindNothing() {
    for (long seed = 1; seed <= 20; seed++) {
      assertThat(Sim.run(seed, Set.of()).holds.moves).as("seed %d", seed).isNotEmpty();
    }
  }
}
