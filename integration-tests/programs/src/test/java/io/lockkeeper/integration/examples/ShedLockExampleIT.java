package io.lockkeeper.integration.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Rig;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The example for ShedLock: a report that one of two instances writes at each tick. */
final class ShedLockExampleIT {

  private static final int TICKS = 2;
  private static final long TICK_SECONDS = 10;
  private static final Pattern REPORT =
      Pattern.compile("report of (\\S+) with fencing token (\\d+)");

  @Test
  void twoInstancesWriteOneReportAtEachTick() {
    // Given
    String servers = "--lockkeeper.servers=" + Rig.shared().server().address();
    try (ExampleProcess first = ExampleProcess.start("shedlock", servers);
        ExampleProcess second = ExampleProcess.start("shedlock", servers)) {
      first.await("Started ReportApplication");
      second.await("Started ReportApplication");
      int before = reports(first, second).size();

      // When
      Awaitility.await().until(() -> reports(first, second).size() >= before + TICKS);

      // Then
      List<Matcher> reports = reports(first, second);
      assertThat(reports)
          .extracting(report -> Instant.parse(report.group(1)).getEpochSecond() / TICK_SECONDS)
          .doesNotHaveDuplicates();
      assertThat(reports).extracting(report -> report.group(2)).doesNotHaveDuplicates();
    }
  }

  private static List<Matcher> reports(ExampleProcess... instances) {
    return Stream.of(instances)
        .flatMap(instance -> instance.lines().stream())
        .map(REPORT::matcher)
        .filter(Matcher::find)
        .toList();
  }
}
