package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.Setting;
import io.lockkeeper.server.security.LimitKey;
import io.lockkeeper.server.security.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class DocumentationTest {

  private static final Path OPERATIONS = Path.of("..", "docs", "operations.md");
  private static final Path SECURITY = Path.of("..", "docs", "security.md");
  private static final Path CLI = Path.of("..", "docs", "cli.md");

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

  @Test
  void tableOfLimitsOfOneIdentityIsTheOneThatThePolicyKnows() throws IOException {
    // Given
    List<String> expected = Arrays.stream(LimitKey.values()).map(DocumentationTest::row).toList();
    // When
    String section = Files.readString(SECURITY).split("### Of one identity", 2)[1].split("####")[0];
    List<String> documented = section.lines().filter(line -> line.startsWith("| `")).toList();
    // Then
    assertThat(documented).isEqualTo(expected);
  }

  private static String row(LimitKey limit) {
    return String.join(
        " | ",
        "| `" + limit.key() + "`",
        limit.description(),
        limit.format(Limits.DEFAULTS.get(limit)),
        limit.format(Limits.WITHOUT_POLICY.get(limit)),
        limit.format(limit.min()) + " to " + limit.format(limit.max()) + " |");
  }

  @Test
  void everyCommandAndOptionIsInTheReferenceOfTheCommandLine() throws IOException {
    // Given
    Map<String, String> sections = sections(Files.readString(CLI));
    Map<String, CommandSpec> commands = new LinkedHashMap<>();
    collect(Main.commandLine().getCommandSpec(), "", commands);
    // When // Then
    assertThat(sections.keySet()).containsExactlyInAnyOrderElementsOf(commands.keySet());
    commands.forEach(
        (name, spec) -> {
          String section = sections.getOrDefault(name, "");
          assertThat(section).as(name).contains("lockkeeper " + name);
          for (OptionSpec option : spec.options()) {
            if (!COMMON.containsKey(option.longestName()) && !IN_OPERATIONS.contains(name)) {
              assertThat(section).as(name).contains("`" + option.longestName());
            }
          }
          for (String code : spec.usageMessage().exitCodeList().keySet()) {
            assertThat(section).as("exit code of " + name).contains(code);
          }
        });
  }

  @Test
  void commonOptionsAreInTheReferenceOnce() throws IOException {
    // Given
    String common = Files.readString(CLI).split("\n## ", -1)[1];
    // When // Then
    for (OptionSpec option : COMMON.values()) {
      assertThat(common).contains("`" + option.longestName());
    }
  }

  /** Those of servers, which the table of settings has, are not repeated. */
  private static final Set<String> IN_OPERATIONS = Set.of("serve", "dev", "doctor", "zk");

  /** The options of a command that has common ones only. */
  private static final Map<String, OptionSpec> COMMON =
      Main.commandLine().getSubcommands().get("ls").getCommandSpec().optionsMap();

  private static void collect(CommandSpec spec, String path, Map<String, CommandSpec> commands) {
    spec.subcommands()
        .forEach(
            (name, line) -> {
              CommandSpec sub = line.getCommandSpec();
              if (!sub.usageMessage().hidden()) {
                String full = path + name;
                commands.put(full, sub);
                collect(sub, full + " ", commands);
              }
            });
  }

  /** Returns the text below each heading of a command. */
  private static Map<String, String> sections(String page) {
    Map<String, String> sections = new LinkedHashMap<>();
    for (String part : page.split("\n### ", -1)) {
      if (part.startsWith("lockkeeper ")) {
        int end = part.indexOf('\n');
        sections.put(
            part.substring("lockkeeper ".length(), end), part.substring(end).split("\n## ", 2)[0]);
      }
    }
    return sections;
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
