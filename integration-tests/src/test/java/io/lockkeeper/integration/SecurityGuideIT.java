package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.server.testing.Ports;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Runs the set-up at the beginning of {@code docs/security.md} as a reader would, in one shell, and
 * compares what it prints with what the page shows. Only the numbers of ports are others, so that a
 * server that runs on this machine is not met.
 */
final class SecurityGuideIT {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final long PATIENCE_SECONDS = 300;
  private static final String END_OF_STEP = "=== end of step";
  private static final Pattern SECTION = Pattern.compile("(?s)\n## From nothing .*?(?=\n## )");
  private static final Pattern BLOCK = Pattern.compile("(?s)\n```(sh|text)\n(.*?\n)```\n");

  /**
   * A block of commands, and the lines that the page shows as printed by it.
   *
   * @param commands the commands
   * @param shown the lines, none where the page shows nothing
   */
  private record Step(String commands, List<String> shown) {}

  @Test
  void everyCommandOfTheSetUpPrintsWhatThePageShows() throws Exception {
    // Given
    assumeWorks("OpenSSL 3", "openssl x509 -help 2>&1 | grep -q -e -copy_extensions");
    assumeWorks("curl", "curl --version");
    List<Step> steps = steps(Files.readString(ROOT.resolve(Path.of("docs", "security.md"))));
    assertThat(steps).hasSizeGreaterThan(10);

    // When
    String output = run(script(steps));

    // Then
    String[] printed = output.split(END_OF_STEP + "\n", -1);
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      assertThat(i)
          .as("step that was reached; all that was printed:%n%s", output)
          .isLessThan(printed.length - 1);
      assertThat(firstAbsent(step.shown(), printed[i]))
          .as("line of the page that%n%s%ndid not print, but:%n%s", step.commands(), printed[i])
          .isEmpty();
    }
  }

  @Test
  void lineThatIsNotPrintedOrInAnotherOrderIsFound() {
    // Given
    String printed = "token 7\nno lock in use\n";

    // When
    List<String> inOrder = firstAbsent(List.of("token ...", "no lock in use"), printed);
    List<String> outOfOrder = firstAbsent(List.of("no lock in use", "token ..."), printed);
    List<String> notPrinted = firstAbsent(List.of("no lock"), printed);

    // Then
    assertThat(inOrder).isEmpty();
    assertThat(outOfOrder).containsExactly("token ...");
    assertThat(notPrinted).containsExactly("no lock");
  }

  private static List<Step> steps(String page) {
    Matcher section = SECTION.matcher(page);
    assertThat(section.find()).as("the section of the set-up is there").isTrue();
    List<Step> steps = new ArrayList<>();
    Matcher block = BLOCK.matcher(section.group());
    while (block.find()) {
      if (block.group(1).equals("sh")) {
        steps.add(new Step(block.group(2), List.of()));
      } else {
        Step last = steps.remove(steps.size() - 1);
        steps.add(new Step(last.commands(), block.group(2).lines().toList()));
      }
    }
    return steps;
  }

  /** Returns the first line that is not printed after those before it; empty if all are. */
  private static List<String> firstAbsent(List<String> shown, String printed) {
    Iterator<String> lines = printed.lines().iterator();
    for (String line : shown) {
      Pattern pattern =
          Pattern.compile(
              Stream.of(line.split(Pattern.quote("..."), -1))
                  .map(Pattern::quote)
                  .collect(Collectors.joining(".*")));
      boolean found = false;
      while (!found && lines.hasNext()) {
        found = pattern.matcher(lines.next()).matches();
      }
      if (!found) {
        return List.of(line);
      }
    }
    return List.of();
  }

  private static String script(List<Step> steps) {
    StringBuilder script =
        new StringBuilder("set -euo pipefail\ntrap 'jobs -p | xargs -r kill' EXIT\n");
    for (Step step : steps) {
      script.append(step.commands()).append("echo '").append(END_OF_STEP).append("'\n");
    }
    return script
        .toString()
        .replace("localhost:7420", "localhost:$GUIDE_GRPC")
        .replace("localhost:7421", "localhost:$GUIDE_HTTP")
        .replace("localhost:7423", "localhost:$GUIDE_PAGES");
  }

  private static String run(String script) throws IOException, InterruptedException {
    Path directory = Scratch.directory("security-guide");
    Path file = Files.writeString(directory.resolve("guide.sh"), script);
    Path output = directory.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder("bash", file.toString())
            .directory(ROOT.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    int grpc = Ports.free();
    int http = Ports.free();
    Map<String, String> environment = builder.environment();
    environment.put("TMPDIR", directory.toString());
    environment.put(
        "PATH",
        Path.of(Jar.JAVA).getParent() + File.pathSeparator + environment.getOrDefault("PATH", ""));
    environment.put("GUIDE_GRPC", Integer.toString(grpc));
    environment.put("GUIDE_HTTP", Integer.toString(http));
    environment.put("GUIDE_PAGES", Integer.toString(Ports.free()));
    environment.put("LOCKKEEPER_LISTEN", "127.0.0.1:" + grpc);
    environment.put("LOCKKEEPER_HTTP", "127.0.0.1:" + http);
    environment.put("LOCKKEEPER_ZOOKEEPER_PORT", "0");
    environment.put("LOCKKEEPER_SERVER", "localhost:" + grpc);
    Process shell = builder.start();
    try {
      assertThat(shell.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .as("the shell has ended; so far: %s", Files.readString(output))
          .isTrue();
    } finally {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
    }
    return Files.readString(output);
  }

  private static void assumeWorks(String program, String question) throws InterruptedException {
    boolean works;
    try {
      works =
          new ProcessBuilder("bash", "-c", question)
                  .redirectErrorStream(true)
                  .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                  .start()
                  .waitFor()
              == 0;
    } catch (IOException e) { // There is no bash.
      works = false;
    }
    if (!works) {
      System.out.println("SKIPPED: " + program + " is not installed");
    }
    Assumptions.assumeTrue(works, "SKIPPED: " + program + " is not installed");
  }
}
