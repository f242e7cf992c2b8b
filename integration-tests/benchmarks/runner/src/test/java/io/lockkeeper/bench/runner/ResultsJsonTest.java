package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ResultsJsonTest {

  private final Results results = new Results();

  @BeforeEach
  void measure() {
    results.add("own-256", "lockkeeper", Samples.of(8_620.123456, 70));
    results.add("own-256", "curator", Samples.of(2_000, 50));
    results.figure("queue-10k", "byThousand", List.of(1.5, 2.5));
  }

  private JsonNode json() {
    return JsonMapper.shared().readTree(ResultsJson.of(Map.of("date", "today"), results));
  }

  @Test
  void beginsWithWhatIsSaidOfTheRun() {
    assertThat(json().get("date").asString()).isEqualTo("today");
  }

  @Test
  void hasARatioForEachComparison() {
    assertThat(json().get("ratios").get("own-256/curator").asDouble()).isEqualTo(4.31);
  }

  @Test
  void hasEveryFloorWithWhatWasMeasured() {
    JsonNode floor = json().get("floors").get(0);
    assertThat(floor.get("ratio").asString()).isEqualTo("own-256/curator");
    assertThat(floor.get("atLeast").asDouble()).isEqualTo(4);
    assertThat(floor.get("measured").asDouble()).isEqualTo(4.31);
    assertThat(floor.get("met").asBoolean()).isTrue();
  }

  @Test
  void hasMediansAndAllRoundsOfEverySystem() {
    JsonNode system = json().get("rows").get("own-256").get("lockkeeper");
    assertThat(system.get("cyclesPerSecond").get("median").asDouble()).isEqualTo(8_620.123);
    assertThat(system.get("rounds").size()).isEqualTo(1);
    assertThat(system.get("cpuSecondsPerThousandCycles").get("load").asDouble()).isEqualTo(0.5);
  }

  @Test
  void laterRunOfSomeRowsTakesTheirPlaceAndLeavesTheOthers() {
    // Given
    results.ratio("names/own-256", 0.7);
    Results later = new Results();
    later.add("own-256", "lockkeeper", Samples.of(6_000, 70));
    later.add("own-256", "curator", Samples.of(3_000, 50));
    later.figure("hostile", "worst", "locks");
    // When
    JsonNode merged =
        JsonMapper.shared()
            .readTree(
                ResultsJson.merged(
                    ResultsJson.of(Map.of("date", "today"), results),
                    ResultsJson.of(Map.of("date", "tomorrow"), later),
                    Set.of("date")));
    // Then
    assertThat(merged.get("date").asString()).isEqualTo("today");
    assertThat(merged.get("ratios").get("own-256/curator").asDouble()).isEqualTo(2);
    assertThat(merged.get("ratios").get("names/own-256").asDouble()).isEqualTo(0.7);
    assertThat(merged.get("figures").propertyNames()).containsExactly("queue-10k", "hostile");
    assertThat(merged.get("floors").size()).isEqualTo(2);
    assertThat(merged.get("floors").get(0).get("ratio").asString()).isEqualTo("names/own-256");
    assertThat(merged.get("floors").get(1).get("measured").asDouble()).isEqualTo(2);
    assertThat(merged.get("laterRuns").propertyNames()).containsExactly("hostile", "own-256");
    assertThat(merged.get("laterRuns").get("own-256").toString())
        .isEqualTo("{\"date\":\"tomorrow\"}");
  }

  @Test
  void leavesOutWhatASystemDoesNotHave() {
    assertThat(
            json().get("rows").get("own-256").get("curator").has("zookeeperTransactionsPerCycle"))
        .isFalse();
  }

  @Test
  void hasSingleFiguresAndSeries() {
    JsonNode series = json().get("figures").get("queue-10k").get("byThousand");
    assertThat(series.get(1).asDouble()).isEqualTo(2.5);
  }
}
