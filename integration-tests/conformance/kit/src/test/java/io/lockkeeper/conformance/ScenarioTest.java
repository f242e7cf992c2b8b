package io.lockkeeper.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScenarioTest {

  @Test
  void everySentenceStandsInTheContractWordForWord() throws IOException {
    // Given
    String contract =
        comments(Path.of(System.getProperty("lockkeeper.proto")))
            + text(Path.of(System.getProperty("lockkeeper.clients")));
    // When
    List<Scenario> invented =
        Scenario.all().stream().filter(s -> !contract.contains(s.sentence())).toList();
    // Then
    assertThat(invented).isEmpty();
  }

  @Test
  void scenariosAreMany() {
    // When
    List<Scenario> all = Scenario.all();
    // Then
    assertThat(all).hasSizeGreaterThan(50).doesNotHaveDuplicates();
  }

  private static String comments(Path protos) throws IOException {
    try (Stream<Path> files = Files.list(protos)) {
      return files.flatMap(ScenarioTest::commentLines).collect(Collectors.joining(" "));
    }
  }

  /** What only clients do stands in the page for those who write one. */
  private static String text(Path page) throws IOException {
    return Files.readString(page).replace("**", "").replace("\n- ", "\n").replaceAll("\\s+", " ");
  }

  private static Stream<String> commentLines(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .map(String::strip)
          .filter(line -> line.startsWith("//"))
          .map(line -> line.substring(2).strip().replaceFirst("^- ", ""));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
