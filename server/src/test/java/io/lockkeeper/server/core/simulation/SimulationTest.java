package io.lockkeeper.server.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Real kernels, a simulated ZooKeeper, clients and faults, all by one seeded chance on a virtual
 * clock. A failure names its seed; {@code Sim.run(seed, Set.of())} repeats it exactly.
 *
 * <p>The system properties {@code simulation.runs} and {@code simulation.seed} set how many seeds
 * are tried, and which one is the first.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class SimulationTest {

  private static final int RUNS = Integer.getInteger("simulation.runs", 1_000);
  private static final long FIRST_SEED = Long.getLong("simulation.seed", 1);

  /** What one run was worth. */
  private record Outcome(
      Set<String> moves, long grants, long steps, long taken, Optional<String> broken) {}

  private static Outcome run(long seed) {
    try {
      Sim sim = Sim.run(seed, Set.of());
      return new Outcome(
          sim.holds.moves, sim.holds.grants, sim.steps, sim.claims.taken, Optional.empty());
    } catch (AssertionError error) {
      return new Outcome(Set.of(), 0, 0, 0, Optional.of(String.valueOf(error.getMessage())));
    }
  }

  @Test
  void everyRuleHoldsInEveryRunAndNothingIsLeftBehind() {
    // When: runs share nothing
    List<Outcome> outcomes =
        LongStream.range(FIRST_SEED, FIRST_SEED + RUNS)
            .parallel()
            .mapToObj(SimulationTest::run)
            .toList();
    // Then
    assertThat(outcomes).flatMap(outcome -> outcome.broken().stream().toList()).isEmpty();
    if (RUNS < 100) {
      return; // A few seeds need not show everything.
    }
    // And: the runs were worth something
    Set<String> moves = new TreeSet<>();
    outcomes.forEach(outcome -> moves.addAll(outcome.moves()));
    long grants = outcomes.stream().mapToLong(Outcome::grants).sum();
    long steps = outcomes.stream().mapToLong(Outcome::steps).sum();
    long taken = outcomes.stream().mapToLong(Outcome::taken).sum();
    System.out.printf(
        "simulation: seeds %d to %d, %d steps, %d grants, %d sessions taken over%n",
        FIRST_SEED, FIRST_SEED + RUNS - 1, steps, grants, taken);
    assertThat(grants).isGreaterThan(5L * RUNS);
    assertThat(taken).isGreaterThan(RUNS);
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

  /** Nothing grows with time: one coordinator is spared for so long. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(longs = {6, 9, 11})
  void nothingIsLeftBehindAfterAnHourEither(long seed) {
    Sim sim = Sim.runFor(Duration.ofHours(1), seed);
    assertThat(sim.holds.grants).isGreaterThan(200);
  }

  @Tag("slow")
  @Test
  void everyRuleHoldsAmongFiftyCoordinatorsToo() {
    long grants = 0;
    long taken = 0;
    for (long seed = 6; seed <= 9; seed++) {
      Sim sim = Sim.runCrowd(50, seed);
      grants += sim.holds.grants;
      taken += sim.claims.taken;
    }
    System.out.printf("simulation: 50 coordinators, %d grants, %d taken over%n", grants, taken);
    assertThat(grants).isGreaterThan(20);
    assertThat(taken).isGreaterThan(20);
  }

  @Test
  void sameSeedIsTheSameRun() {
    Sim first = Sim.run(12, Set.of());
    Sim second = Sim.run(12, Set.of());
    assertThat(second.trace).isEqualTo(first.trace);
    assertThat(second.steps).isEqualTo(first.steps);
  }
}
