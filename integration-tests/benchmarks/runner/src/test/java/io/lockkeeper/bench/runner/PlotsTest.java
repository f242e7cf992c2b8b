package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class PlotsTest {

  private static Results results() {
    Results results = new Results();
    double factor = 1;
    for (Subject subject : Subject.values()) {
      factor += 0.7;
      for (ComparedRow row : ComparedRow.values()) {
        if (row.has(subject)) {
          results.add(
              row.label(),
              subject.label(),
              Samples.of(600 * factor * Math.sqrt(row.clients()), 150 * factor));
        }
      }
    }
    results.figure("queue-10k", "meanMicrosAGrantByThousand", List.of(90.0, 95.5, 101.0));
    return results;
  }

  @Test
  void everyPlotIsWellFormed() throws Exception {
    // When
    Map<String, String> plots = Plots.all(results());
    // Then
    assertThat(plots)
        .containsOnlyKeys(
            "throughput.svg",
            "latency-own-1.svg",
            "cpu-own-256.svg",
            "cpu-hot-64.svg",
            "queue-10k.svg");
    for (String plot : plots.values()) {
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(new InputSource(new StringReader(plot)));
    }
  }

  @Test
  void plotOfThroughputHasALineForEverySystemThatHasOwnLocks() {
    assertThat(Plots.all(results()).get("throughput.svg"))
        .contains(">lockkeeper ", ">curator ", ">etcd ", ">redisson ", ">raw-async ")
        .doesNotContain(">ping-pong ");
  }

  @Test
  void whatWasNotMeasuredHasNoPlot(@TempDir Path directory) throws Exception {
    Plots.write(directory, new Results());
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void scaleHasRoundEndsAroundAllValues() {
    assertThat(Scale.of(0, 37, false).ticks()).containsExactly(0.0, 10.0, 20.0, 30.0, 40.0);
    assertThat(Scale.of(30, 4_000, true).ticks()).containsExactly(10.0, 100.0, 1_000.0, 10_000.0);
    assertThat(Scale.of(30, 4_000, true).part(10_000)).isEqualTo(1);
  }
}
