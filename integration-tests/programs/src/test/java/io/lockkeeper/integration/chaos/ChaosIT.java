package io.lockkeeper.integration.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Polyglot;
import io.lockkeeper.integration.harness.Scratch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A short run of {@code make chaos}, with random faults of all kinds. */
@Alone
final class ChaosIT {

  private static final String SHORT_SECONDS = "30";

  /** Half a minute of faults, and the time to recover from them, which a busy machine needs. */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void noPromiseIsBrokenUnderFaults() throws IOException, InterruptedException {
    // Given
    Polyglot.CHAOS_CHECKER.assumeInstalled();
    Path directory = Scratch.directory("chaos");
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.putIfAbsent("CHAOS_SECONDS", SHORT_SECONDS);

    // When
    Chaos.run(ChaosSettings.from(environment, directory));

    // Then
    Process checker =
        new ProcessBuilder("polyglot/build/bin/chaos-checker", directory.toString())
            .redirectErrorStream(true)
            .start();
    String report = new String(checker.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    System.out.println(report);
    assertThat(checker.waitFor()).as("histories in %s:%n%s", directory, report).isZero();
  }
}
