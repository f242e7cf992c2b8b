package io.lockkeeper.conformance.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.conformance.ClientProcess;
import io.lockkeeper.conformance.Kit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.MINUTES)
class OurClientsIT {

  private static final Path CONFORMANCE = Path.of(System.getProperty("lockkeeper.conformance"));

  @Test
  void ourClientsKeepTheContractAndPlantedMistakesAreFound() throws IOException {
    // Given
    List<String> options = new ArrayList<>(List.of("--jobs", "12", "--client", Driver.command()));
    for (String language : List.of("python", "go", "node")) {
      String client = CONFORMANCE.resolve("../../clients/" + language + "/bin/driver").toString();
      if (ClientProcess.isReady(client)) {
        options.addAll(List.of("--client", client));
      } else {
        System.err.println(
            "\nSKIPPED: the conformance of the client for " + language + ": run make clients\n");
      }
    }
    String python = CONFORMANCE + "/python/python.sh ";
    if (Files.isExecutable(CONFORMANCE.resolve("../polyglot/build/python/bin/python"))) {
      options.addAll(
          List.of("--client", python + "driver.py", "--mistakes", python + "mistakes.py"));
    } else {
      System.err.println(
          "\nSKIPPED: the conformance of the reference client, and the planted mistakes: run"
              + " integration-tests/polyglot/install.sh\n");
    }
    // When
    boolean good = Kit.run(System.out, options.toArray(String[]::new));
    // Then
    assertThat(good).as("every client passes, every mistake is found: see the table").isTrue();
  }
}
