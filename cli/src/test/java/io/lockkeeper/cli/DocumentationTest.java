package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class DocumentationTest {

  private static final Path OPERATIONS = Path.of("..", "docs", "operations.md");

  @Test
  void tableOfSettingsIsTheOneThatTheProgramKnows() throws IOException {
    // Given
    List<String> expected = Arrays.stream(Setting.values()).map(DocumentationTest::row).toList();
    // When
    List<String> documented;
    try (var lines = Files.lines(OPERATIONS)) {
      documented = lines.filter(line -> line.startsWith("| `--")).toList();
    }
    // Then
    assertThat(documented).isEqualTo(expected);
  }

  private static String row(Setting setting) {
    String serve = setting.defaultFor(Profile.SERVE);
    String dev = setting.defaultFor(Profile.DEV);
    String shown =
        (serve.isEmpty() ? "" : "`" + serve + "`")
            + (dev.equals(serve) ? "" : ", in dev `" + dev + "`");
    return String.join(
        " | ",
        "| `" + setting.flag() + "`",
        "`" + setting.variable() + "`",
        shown,
        setting.description() + " |");
  }
}
