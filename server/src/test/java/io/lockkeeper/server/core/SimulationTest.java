package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Real kernels, a simulated ZooKeeper, clients and faults, all by one seeded chance on a virtual
 * clock. A failure names its seed; {@code Sim.run(seed, Set.of())} repeats it exactly.
 */
class SimulationTest {

  private static final int RUNS = Integer.getInteger("simulation.runs", 2_000);
  private static final long FIRST_SEED = Long.getLong("simulation.seed", 1);

  @Test
  void everyRuleHoldsInEveryRunAndNothingIsLeftBehind() {
    // Given
    Set<String> moves = new TreeSet<>();
    long grants = 0;
    long steps = 0;
    // When
    for (long seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      Sim sim = Sim.run(seed, Set.of());
      moves.addAll(sim.holds.moves);
      grants += sim.holds.grants;
      steps += sim.steps;
    }
    // Then: the runs were worth something
    System.out.printf(
        "simulation: seeds %d to %d, %d steps, %d grants%n",
        FIRST_SEED, FIRST_SEED + RUNS - 1, steps, grants);
    assertThat(grants).isGreaterThan(5L * RUNS);
    assertThat(moves)
        .contains(
            "ENQUEUING -> QUEUED",
            "ENQUEUING -> CANCELLED",
            "ENQUEUING -> ENDED",
            "QUEUED -> HELD",
            "QUEUED -> LEAVING",
            "HELD -> RELEASING",
            "HELD -> LEAVING",
            "RELEASING -> ENDED",
            "LEAVING -> ENDED",
            "CANCELLED -> LEAVING",
            "CANCELLED -> ENDED");
  }

  @Test
  void sameSeedIsTheSameRun() {
    Sim first = Sim.run(12, Set.of());
    Sim second = Sim.run(12, Set.of());
    assertThat(second.trace).isEqualTo(first.trace);
    assertThat(second.steps).isEqualTo(first.steps);
  }
}
