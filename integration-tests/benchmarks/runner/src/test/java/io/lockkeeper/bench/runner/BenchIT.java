package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A benchmark too short to mean anything, with all that needs no other system's server. */
class BenchIT {

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  private Results run(String rows) throws Exception {
    Map<String, String> tiny =
        Map.of(
            "ROWS", rows,
            "SYSTEMS", "raw-async,raw-multi,curator,lockkeeper,ping-pong",
            "ROUNDS", "1",
            "BENCH_SECONDS", "0.2",
            "RAMP", "2",
            "WARMUP", "0");
    return Bench.run(
        Settings.of(tiny, Rows.labels(), Rows.usual()),
        Path.of(".."),
        new PrintStream(printed, true, StandardCharsets.UTF_8));
  }

  @Test
  @Timeout(180)
  void everySystemIsMeasuredAndEachComparisonHasALine() throws Exception {
    // When
    Results results = run("own-1,hot-64,reentrant-64");
    // Then
    assertThat(results.summaries("own-1"))
        .containsOnlyKeys("raw-async", "curator", "lockkeeper")
        .allSatisfy((system, summary) -> assertThat(summary.p50Micros().median()).isPositive());
    assertThat(results.summaries("hot-64"))
        .containsOnlyKeys("raw-async", "raw-multi", "curator", "lockkeeper", "ping-pong")
        .allSatisfy((system, summary) -> assertThat(summary.cyclesPerSecond().min()).isPositive());
    assertThat(results.summaries("reentrant-64"))
        .containsOnlyKeys("curator", "lockkeeper")
        .allSatisfy((system, summary) -> assertThat(summary.cyclesPerSecond().min()).isPositive());
    assertThat(results.summaries("own-1").get("curator").transactionsPerCycle()).isPositive();
    assertThat(results.summaries("hot-64").get("lockkeeper").cpuPerThousand())
        .containsOnlyKeys("zookeeper", "coordinator", "load");
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("ratio own-1/curator ", "ratio reentrant-64/curator ")
        .contains("floor hot-64/ping-pong 0.70 measured ");
  }

  @Test
  @Timeout(300)
  void whatSecurityCostsAndWhatAnAttackCostsOthersIsMeasured() throws Exception {
    // When
    Results results = run("tls-256,policy-256,hostile");
    // Then
    assertThat(results.summaries("policy-256")).containsOnlyKeys("own-256", "mutual-tls", "token");
    assertThat(results.summaries("hostile").keySet())
        .contains("alone")
        .containsAll(HostileRow.ATTACKS);
    assertThat(HostileRow.ATTACKS)
        .allSatisfy(
            attack ->
                assertThat(results.figures().get("hostile"))
                    .hasEntrySatisfying(
                        "its answers a second, " + attack,
                        answers -> assertThat((Double) answers).isPositive()));
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("floor policy-256/mutual-tls 0.80 measured ")
        .contains(
            "floor hostile/throughput 0.75 measured ", "floor hostile/latency 1.25 measured ");
  }
}
