package io.lockkeeper.cli.text;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes what the shell fish completes, from the commands and their options. */
public final class FishCompletion {

  private final String program;
  private final StringBuilder script = new StringBuilder();

  private FishCompletion(String program) {
    this.program = program;
  }

  /** Returns the script for a program with all its commands. */
  public static String of(CommandLine line) {
    FishCompletion completion = new FishCompletion(line.getCommandName());
    completion.script.append("complete -c ").append(completion.program).append(" -f\n");
    completion.add(line.getCommandSpec(), List.of());
    return completion.script.toString();
  }

  private void add(CommandSpec spec, List<String> path) {
    Map<String, CommandLine> below = spec.subcommands();
    String here = condition(path, below.keySet());
    for (OptionSpec option : spec.options()) {
      if (!option.hidden()) {
        script.append(line(here)).append(option(option)).append('\n');
      }
    }
    Set<CommandSpec> done = new LinkedHashSet<>();
    for (Map.Entry<String, CommandLine> child : below.entrySet()) {
      CommandSpec sub = child.getValue().getCommandSpec();
      if (sub.usageMessage().hidden() || !done.add(sub)) {
        continue;
      }
      script
          .append(line(here))
          .append(" -a ")
          .append(sub.name())
          .append(" -d ")
          .append(quoted(first(sub.usageMessage().description())))
          .append('\n');
      List<String> deeper = new ArrayList<>(path);
      deeper.add(sub.name());
      add(sub, deeper);
    }
  }

  /** Returns when a line counts: after these commands, and before any of the next. */
  private static String condition(List<String> path, Set<String> next) {
    List<String> parts = new ArrayList<>();
    path.forEach(command -> parts.add("__fish_seen_subcommand_from " + command));
    if (!next.isEmpty()) {
      parts.add("not __fish_seen_subcommand_from " + String.join(" ", next));
    }
    return String.join("; and ", parts);
  }

  private String line(String condition) {
    return "complete -c " + program + (condition.isEmpty() ? "" : " -n " + quoted(condition));
  }

  private static String option(OptionSpec option) {
    StringBuilder text = new StringBuilder();
    for (String name : option.names()) {
      text.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
    }
    if (option.arity().max() > 0) {
      boolean file = option.paramLabel().matches("FILE.*|DIR");
      text.append(file ? " -r -F" : " -x"); // -r alone offers files, too
      if (!file && option.paramLabel().matches("\\w+(\\|\\w+)+")) {
        text.append(" -a ").append(quoted(option.paramLabel().replace('|', ' ')));
      }
    }
    return text.append(" -d ").append(quoted(first(option.description()))).toString();
  }

  /** Returns the first sentence of a description. */
  private static String first(String[] description) {
    String text = description.length == 0 ? "" : description[0];
    int end = text.indexOf(". ");
    return (end < 0 ? text : text.substring(0, end)).replaceAll("\\.$", "");
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
