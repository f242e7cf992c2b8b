package io.lockkeeper.conformance;

import static java.util.Objects.requireNonNull;

import io.lockkeeper.conformance.Judge.Play;
import io.lockkeeper.conformance.Judge.Verdict;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Judges clients, as the options say. Ends with 0 if every client passed and every mistake was
 * found, with 1 if not, with 2 if the options are wrong.
 */
public final class Kit {

  private static final String USAGE =
      """
      usage: Kit OPTION...
        --client COMMAND     a client that must pass; started once for each scenario
        --mistakes COMMAND   clients with a planted mistake each: COMMAND --list writes lines
                             "MISTAKE SCENARIO", and COMMAND MISTAKE must fail in SCENARIO
        --only TEXT          of the scenarios, only those whose names contain it, and of the
                             mistakes, those that these must find
        --jobs N             how many scenarios are played at once; 4
      One --client or one --mistakes at least; each may come several times.
      """;

  /**
   * What a client with a mistake must pass: it can speak, and is found by what it does, not by its
   * crash.
   */
  private static final String CONTROL = "Acquire.severalLocksAreOneRequest";

  private final List<String> clients = new ArrayList<>();
  private final List<String> mistakes = new ArrayList<>();
  private final PrintStream out;
  private String only = "";
  private int jobs = 4;

  private Kit(PrintStream out) {
    this.out = out;
  }

  /** Runs the kit. */
  public static void main(String[] args) throws IOException {
    Kit kit = new Kit(System.out);
    try {
      kit.options(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage() + "\n" + USAGE);
      System.exit(2);
    }
    System.exit(kit.run() ? 0 : 1);
  }

  /**
   * Judges as the options say and prints what came of it; returns whether all is as it must be.
   *
   * @throws IllegalArgumentException if the options are wrong
   */
  public static boolean run(PrintStream out, String... args) throws IOException {
    Kit kit = new Kit(out);
    kit.options(args);
    return kit.run();
  }

  private void options(String... args) {
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value");
      }
      option(args[i], args[i + 1]);
    }
    if (clients.isEmpty() && mistakes.isEmpty()) {
      throw new IllegalArgumentException("nobody to judge");
    }
  }

  private void option(String name, String value) {
    switch (name) {
      case "--client" -> clients.add(value);
      case "--mistakes" -> mistakes.add(value);
      case "--only" -> only = value;
      case "--jobs" -> jobs = number(value);
      default -> throw new IllegalArgumentException("no such option: " + name);
    }
  }

  private static int number(String value) {
    if (!value.matches("[1-9][0-9]{0,2}")) {
      throw new IllegalArgumentException("not a number of jobs: " + value);
    }
    return Integer.parseInt(value);
  }

  private boolean run() throws IOException {
    List<Scenario> scenarios =
        Scenario.all().stream().filter(scenario -> scenario.name().contains(only)).toList();
    if (scenarios.isEmpty()) {
      out.println("No scenario has \"" + only + "\" in its name: nothing was played");
      return false;
    }
    List<Mistake> planted = planted();
    Set<Play> plays = new LinkedHashSet<>();
    // Scenario by scenario: while one client waits or starts slowly, another one works.
    for (Scenario scenario : scenarios) {
      clients.forEach(client -> plays.add(Play.ofClient(client, scenario)));
    }
    planted.forEach(mistake -> plays.addAll(List.of(mistake.play(), mistake.control())));
    Map<Play, Verdict> verdicts;
    try (Judge judge = new Judge(jobs)) {
      verdicts = judge.judge(plays);
    }
    boolean good = true;
    for (String client : clients) {
      good &=
          passes(
              client,
              scenarios.stream()
                  .map(scenario -> requireNonNull(verdicts.get(Play.ofClient(client, scenario))))
                  .toList());
    }
    if (!mistakes.isEmpty()) {
      good &= areFound(planted, verdicts);
    }
    return good;
  }

  private boolean passes(String client, List<Verdict> verdicts) {
    out.println("\nClient: " + client);
    for (Verdict verdict : verdicts) {
      out.printf("%s  %s%n", outcome(verdict), verdict.scenario().name());
      out.println("      \"" + verdict.scenario().sentence() + "\"");
      if (!verdict.passed()) {
        out.println("      seen: " + verdict.seen());
        verdict.transcript().forEach(line -> out.println("        " + line));
      }
    }
    long passed = verdicts.stream().filter(Verdict::passed).count();
    long leftOut = verdicts.stream().filter(verdict -> !verdict.leftOut().isEmpty()).count();
    out.printf(
        "%d of %d scenarios passed%s: %s%n",
        passed - leftOut,
        verdicts.size(),
        leftOut == 0 ? "" : ", " + leftOut + " left out since the client cannot do it",
        client);
    return passed == verdicts.size();
  }

  private static String outcome(Verdict verdict) {
    if (!verdict.leftOut().isEmpty()) {
      return "skip";
    }
    return verdict.passed() ? "pass" : "FAIL";
  }

  /** A client with a planted mistake, and the scenario that must find it. */
  private record Mistake(String command, String name, Scenario scenario) {
    static Mistake of(String command, String line) {
      int space = line.indexOf(' ');
      if (space < 0) {
        throw new IllegalStateException("not \"MISTAKE SCENARIO\": " + line);
      }
      String name = line.substring(0, space);
      return new Mistake(command + " " + name, name, named(line.substring(space).strip()));
    }

    /** It must fail here. */
    Play play() {
      return Play.ofMistake(command, scenario);
    }

    /** And pass here. */
    Play control() {
      return Play.ofClient(command, named(CONTROL));
    }
  }

  private static Scenario named(String name) {
    return Scenario.all().stream()
        .filter(scenario -> scenario.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no such scenario: " + name));
  }

  private List<Mistake> planted() throws IOException {
    List<Mistake> planted = new ArrayList<>();
    for (String command : mistakes) {
      Process list = new ProcessBuilder("/bin/sh", "-c", "exec " + command + " --list").start();
      List<Mistake> listed;
      try (BufferedReader lines = list.inputReader()) {
        listed = lines.lines().map(line -> Mistake.of(command, line)).toList();
      }
      if (listed.isEmpty()) {
        throw new IllegalStateException("lists no mistake: " + command);
      }
      listed.stream()
          .filter(mistake -> mistake.scenario().name().contains(only))
          .forEach(planted::add);
    }
    return planted;
  }

  private boolean areFound(List<Mistake> planted, Map<Play, Verdict> verdicts) {
    out.println("\nPlanted mistakes:");
    int found = 0;
    for (Mistake mistake : planted) {
      Verdict verdict = requireNonNull(verdicts.get(mistake.play()));
      Verdict control = requireNonNull(verdicts.get(mistake.control()));
      boolean isFound = !verdict.passed() && control.passed();
      found += isFound ? 1 : 0;
      out.printf(
          "%s  %s, by %s%n",
          isFound ? "found    " : "NOT FOUND", mistake.name(), mistake.scenario().name());
      out.println("           seen: " + (verdict.passed() ? "nothing" : verdict.seen().strip()));
      if (!control.passed()) {
        out.println("           but it fails in " + CONTROL + ", too: " + control.seen().strip());
        control.transcript().forEach(line -> out.println("        " + line));
      }
    }
    out.printf("%d of %d planted mistakes found%n", found, planted.size());
    return found == planted.size();
  }
}
