package io.lockkeeper.integration.docs;

import io.lockkeeper.integration.docs.Page.Block;
import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.server.testing.Ports;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The commands of a page, for one bash that stops at the first that fails. What a reader types is
 * not changed, but for the numbers of ports, 7400 to 7499: others stand for them, so that no server
 * of this machine is met. The variables that set those of {@code lockkeeper} agree with that.
 */
final class Guide {

  private static final long PATIENCE_SECONDS = 1_500;
  private static final Pattern PORT = Pattern.compile("\\b74\\d\\d\\b");
  private static final String END_OF_STEP = "=== end of step";

  /**
   * Starts the page's shell as the leader of a group of processes, and ends whoever is left in it,
   * whatever started him.
   */
  private static final String GROUP =
      "set -m; bash \"$1\" < /dev/null & group=$!;"
          + " trap 'kill -KILL -- -$group 2> /dev/null' EXIT; trap 'exit 143' TERM; wait $group";

  /**
   * A block of commands, and the lines that the page shows as printed by it.
   *
   * @param line of the page
   * @param commands the commands
   * @param shown the lines, none where the page shows nothing
   */
  private record Step(int line, List<String> commands, List<String> shown) {}

  private final List<Step> steps = new ArrayList<>();
  private final List<Block> skipped = new ArrayList<>();
  private final Map<String, String> ports = new HashMap<>();

  /** Takes the blocks {@code sh} of a page, with the blocks {@code text} that follow each. */
  Guide(Page page) {
    String before = "";
    boolean isRun = false;
    for (Block block : page.blocks()) {
      boolean isShown = block.language().equals("text") && !before.isEmpty();
      if (block.language().equals("sh")) {
        isRun = block.reason().isEmpty();
        if (isRun) {
          steps.add(new Step(block.line(), block.lines(), new ArrayList<>()));
        } else {
          skipped.add(block);
        }
      } else if (isShown && isRun && block.reason().isEmpty()) {
        steps.get(steps.size() - 1).shown().addAll(block.lines());
      }
      before = block.language().equals("sh") || isShown ? block.language() : "";
    }
  }

  /** Returns whether there is anything to run. */
  boolean isRunnable() {
    return !steps.isEmpty();
  }

  /** Returns the blocks of commands that the page says are not run. */
  List<Block> skipped() {
    return skipped;
  }

  /** Returns whether a command has the word. */
  boolean uses(String program) {
    Pattern word = Pattern.compile("(?<![\\w./-])" + program + "(?![\\w./-])");
    return steps.stream()
        .flatMap(step -> step.commands().stream())
        .anyMatch(line -> word.matcher(line).find());
  }

  /**
   * Runs the commands, and ends every process that they have started.
   *
   * @param directory where they run
   * @param log where the script, what it prints and temporary files go
   * @return what did not go as the page says; empty if all did
   */
  Optional<String> run(Path directory, Path log) throws IOException, InterruptedException {
    Path temporary = Files.createDirectories(log.resolve("tmp"));
    Path script = Files.writeString(log.resolve("guide.sh"), script());
    Path output = log.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", GROUP, "guide", script.toString())
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    environment(builder.environment());
    builder.environment().put("TMPDIR", temporary.toString());
    Process shell = builder.start();
    boolean ended = shell.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    shell.destroy();
    shell.waitFor();
    String printed = Files.readString(output);
    return ended
        ? difference(printed)
        : Optional.of("not done after " + PATIENCE_SECONDS + " s, but:\n" + printed);
  }

  private void environment(Map<String, String> environment) {
    environment.keySet().removeIf(name -> name.startsWith("LOCKKEEPER_"));
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    String path =
        Stream.of(
                Tree.ROOT.resolve("packaging/bin"),
                Tree.ROOT.resolve("integration-tests/polyglot/build/bin"),
                Path.of(Jar.JAVA).getParent())
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    environment.merge("PATH", path, (old, ours) -> ours + File.pathSeparator + old);
    // A coordinator that soon ends need not be compiled well.
    environment.put("LOCKKEEPER_JAVA_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    environment.put("LOCKKEEPER_LISTEN", "127.0.0.1:" + port("7420"));
    environment.put("LOCKKEEPER_SERVER", "localhost:" + port("7420"));
    environment.put("LOCKKEEPER_HTTP", "127.0.0.1:" + port("7421"));
    // Where the page does not say it, any that is free at that moment.
    environment.put("LOCKKEEPER_ZOOKEEPER_PORT", ports.getOrDefault("7422", "0"));
  }

  private String script() {
    StringBuilder script = new StringBuilder("set -euo pipefail\n");
    for (Step step : steps) {
      step.commands().forEach(line -> script.append(withPorts(line)).append('\n'));
      script.append("echo '").append(END_OF_STEP).append("'\n");
    }
    return script.toString();
  }

  private String port(String documented) {
    return ports.computeIfAbsent(documented, any -> Integer.toString(Ports.free()));
  }

  private String withPorts(String line) {
    return PORT.matcher(line).replaceAll(found -> Matcher.quoteReplacement(port(found.group())));
  }

  private Optional<String> difference(String output) {
    String[] printed = output.split(END_OF_STEP + "\n", -1);
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      if (i >= printed.length - 1) {
        return Optional.of(
            "line %d: a command failed; all that was printed:%n%s".formatted(step.line(), output));
      }
      Optional<String> absent =
          firstAbsent(step.shown().stream().map(this::withPorts).toList(), printed[i]);
      if (absent.isPresent()) {
        return Optional.of(
            "line %d: its commands did not print, after the lines before it,%n%s%nbut:%n%s"
                .formatted(step.line(), absent.get(), printed[i]));
      }
    }
    return Optional.empty();
  }

  /** Returns the first line that is not printed after those before it; empty if all are. */
  static Optional<String> firstAbsent(List<String> shown, String printed) {
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
        return Optional.of(line);
      }
    }
    return Optional.empty();
  }
}
