package io.lockkeeper.conformance;

import io.lockkeeper.conformance.Judge.Verdict;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;

/**
 * Judges clients. Each option may be given several times, and what it says counts for all:
 *
 * <pre>
 *   --client COMMAND     a client that must pass; started once for each scenario
 *   --mistakes COMMAND   clients with a planted mistake each: COMMAND --list writes lines
 *                        "MISTAKE SCENARIO", and COMMAND MISTAKE must fail in SCENARIO
 *   --only TEXT          of the scenarios, only those whose names contain it
 *   --jobs N             how many scenarios are played at once; 4
 * </pre>
 *
 * <p>Ends with 0 if every client passed and every mistake was found.
 */
public final class Kit {

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
    System.exit(run(System.out, args) ? 0 : 1);
  }

  /** Judges as the options say and prints what came of it; returns whether all is as it must be. */
  public static boolean run(PrintStream out, String... args) throws IOException {
    Kit kit = new Kit(out);
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value");
      }
      kit.option(args[i], args[i + 1]);
    }
    return kit.run();
  }

  private void option(String name, String value) {
    switch (name) {
      case "--client" -> clients.add(value);
      case "--mistakes" -> mistakes.add(value);
      case "--only" -> only = value;
      case "--jobs" -> jobs = Integer.parseInt(value);
      default -> throw new IllegalArgumentException("no such option: " + name);
    }
  }

  private boolean run() throws IOException {
    List<Scenario> scenarios =
        Scenario.all().stream().filter(scenario -> scenario.name().contains(only)).toList();
    boolean good = true;
    try (Judge judge = new Judge(jobs)) {
      // All are begun before the first is waited for: while one client waits, another one works.
      Map<String, List<Future<Verdict>>> verdicts = new LinkedHashMap<>();
      for (String client : clients) {
        verdicts.put(
            client, scenarios.stream().map(scenario -> judge.begin(client, scenario)).toList());
      }
      List<Plants> plants = new ArrayList<>();
      for (String command : mistakes) {
        plants.add(plant(command, judge));
      }
      for (Map.Entry<String, List<Future<Verdict>>> client : verdicts.entrySet()) {
        good &= passes(client.getKey(), client.getValue().stream().map(Judge::get).toList());
      }
      for (Plants planted : plants) {
        good &= areFound(planted);
      }
    }
    return good;
  }

  private boolean passes(String client, List<Verdict> verdicts) {
    out.println("\nClient: " + client);
    for (Verdict verdict : verdicts) {
      out.printf("%s  %s%n", verdict.passed() ? "pass" : "FAIL", verdict.scenario().name());
      out.println("      \"" + verdict.scenario().sentence() + "\"");
      if (!verdict.passed()) {
        out.println("      seen: " + verdict.seen());
        verdict.transcript().forEach(line -> out.println("        " + line));
      }
    }
    long passed = verdicts.stream().filter(Verdict::passed).count();
    out.printf("%d of %d scenarios passed: %s%n", passed, verdicts.size(), client);
    return passed == verdicts.size();
  }

  /** A planted mistake and the scenario that must find it. */
  private record Mistake(String name, Scenario scenario) {
    static Mistake of(String line) {
      int space = line.indexOf(' ');
      if (space < 0) {
        throw new IllegalArgumentException("not \"MISTAKE SCENARIO\": " + line);
      }
      String scenarioName = line.substring(space).strip();
      return Scenario.all().stream()
          .filter(scenario -> scenario.name().equals(scenarioName))
          .map(scenario -> new Mistake(line.substring(0, space), scenario))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("no such scenario: " + line));
    }
  }

  /** Mistakes, and what is to come of each. */
  private record Plants(String command, List<Mistake> mistakes, List<Future<Verdict>> verdicts) {}

  private static Plants plant(String command, Judge judge) throws IOException {
    Process list = new ProcessBuilder("/bin/sh", "-c", "exec " + command + " --list").start();
    List<Mistake> planted;
    try (BufferedReader lines = list.inputReader()) {
      planted = lines.lines().map(Mistake::of).toList();
    }
    List<Future<Verdict>> verdicts =
        planted.stream()
            .map(mistake -> judge.beginOnce(command + " " + mistake.name(), mistake.scenario()))
            .toList();
    return new Plants(command, planted, verdicts);
  }

  private boolean areFound(Plants planted) {
    out.println("\nPlanted mistakes: " + planted.command());
    int found = 0;
    for (int i = 0; i < planted.mistakes().size(); i++) {
      Verdict verdict = Judge.get(planted.verdicts().get(i));
      found += verdict.passed() ? 0 : 1;
      out.printf(
          "%s  %s, by %s%n",
          verdict.passed() ? "NOT FOUND" : "found    ",
          planted.mistakes().get(i).name(),
          verdict.scenario().name());
      out.println("           seen: " + (verdict.passed() ? "nothing" : verdict.seen().strip()));
    }
    out.printf("%d of %d planted mistakes found%n", found, planted.mistakes().size());
    return found > 0 && found == planted.mistakes().size();
  }
}
