package io.lockkeeper.integration.chaos;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a run is to do.
 *
 * @param seconds for how long the nemesis is at work
 * @param seed decides its faults and what the clients do
 * @param bug what the coordinators are given, if anything
 * @param faults the kinds to draw from; empty: all
 * @param directory where histories and logs go
 */
record ChaosSettings(
    long seconds, long seed, Optional<PlantedBug> bug, List<String> faults, Path directory) {

  private static final String DEFAULT_SECONDS = "600";

  /**
   * Reads the environment: {@code CHAOS_SECONDS}, {@code _SEED}, {@code _PLANT}, {@code _FAULTS}.
   */
  static ChaosSettings from(Map<String, String> environment, Path directory) {
    long seconds = Long.parseLong(environment.getOrDefault("CHAOS_SECONDS", DEFAULT_SECONDS));
    String seed = environment.getOrDefault("CHAOS_SEED", "");
    return new ChaosSettings(
        seconds,
        seed.isEmpty() ? System.nanoTime() % 1_000_000_007L : Long.parseLong(seed),
        Optional.of(environment.getOrDefault("CHAOS_PLANT", ""))
            .filter(name -> !name.isEmpty())
            .map(PlantedBug::of),
        Stream.of(environment.getOrDefault("CHAOS_FAULTS", "").split(",", -1))
            .filter(kind -> !kind.isEmpty())
            .toList(),
        directory);
  }
}
