package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RatiosTest {

  @Test
  void rowsOfManyClientsAreComparedByThroughput() {
    // Given
    Results results = new Results();
    results.add("own-256", "lockkeeper", Samples.of(8_000, 70));
    results.add("own-256", "curator", Samples.of(2_000, 50));
    // Then
    assertThat(results.ratios()).isEqualTo(Map.of("own-256/curator", 4.0));
  }

  @Test
  void rowOfOneClientIsComparedByTheMiddleLatencyOfAnAcquire() {
    // Given
    Results results = new Results();
    results.add("own-1", "lockkeeper", Samples.of(8_000, 70));
    results.add("own-1", "curator", Samples.of(2_000, 50));
    // Then
    assertThat(results.ratios()).isEqualTo(Map.of("own-1/curator", 1.4));
  }

  @Test
  void ratioIsThatOfTheMediansOfAllRounds() {
    // Given
    Results results = new Results();
    for (double cycles : new double[] {100, 300, 200}) {
      results.add("hot-64", "lockkeeper", Samples.of(cycles, 1));
    }
    for (double cycles : new double[] {1_000, 10, 50}) {
      results.add("hot-64", "etcd", Samples.of(cycles, 1));
    }
    // Then
    assertThat(results.ratios()).isEqualTo(Map.of("hot-64/etcd", 4.0));
  }

  @Test
  void thereIsNoRatioWhereLockkeeperWasNotMeasured() {
    // Given
    Results results = new Results();
    results.add("own-256", "curator", Samples.of(2_000, 50));
    // Then
    assertThat(results.ratios()).isEmpty();
  }

  @Test
  void ratiosOfOtherRowsAreAddedAsTheyAre() {
    // Given
    Results results = new Results();
    results.ratio("leases-50k/cores", 0.25);
    // Then
    assertThat(results.ratios()).isEqualTo(Map.of("leases-50k/cores", 0.25));
  }
}
