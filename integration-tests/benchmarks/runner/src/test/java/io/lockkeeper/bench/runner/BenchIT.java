package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code make bench} from start to end, with figures that mean nothing. */
class BenchIT {

  private static final Map<String, String> TINY =
      Map.of(
          "ROWS", "hot-64",
          "SYSTEMS", "lockkeeper",
          "ROUNDS", "1",
          "BENCH_SECONDS", "5",
          "RAMP", "2",
          "WARMUP", "0");

  @TempDir private Path plots;

  @Test
  void rowIsMeasuredAndItsResultsCanBeWritten() throws Exception {
    // Given
    Settings settings = Settings.of(TINY, Rows.labels(), Rows.usual());
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    // When
    Results results =
        Bench.run(settings, Path.of(".."), new PrintStream(printed, true, StandardCharsets.UTF_8));
    String json = ResultsJson.of(settings.describe(), results);
    Plots.write(plots, results);
    // Then
    Summary summary = results.summaries("hot-64").get("lockkeeper");
    assertThat(summary.cyclesPerSecond().median()).isPositive();
    assertThat(summary.p50Micros().median()).isPositive();
    assertThat(summary.transactionsPerCycle()).isPositive();
    assertThat(summary.cpuPerThousand()).containsOnlyKeys("zookeeper", "coordinator", "load");
    assertThat(printed.toString(StandardCharsets.UTF_8)).contains("hot-64");
    assertThat(json).contains("\"hot-64\"");
    assertThat(plots).isNotEmptyDirectory();
  }
}
