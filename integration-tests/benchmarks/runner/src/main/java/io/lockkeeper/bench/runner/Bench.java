package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The program behind {@code make bench}. */
public final class Bench {

  private final Settings settings;
  private final Jvms jvms;
  private final Processors processors;
  private final Stage stage;
  private final Table table;
  private final Results results = new Results();

  private Bench(Settings settings, Jvms jvms, Processors processors, Stage stage, Table table) {
    this.settings = settings;
    this.jvms = jvms;
    this.processors = processors;
    this.stage = stage;
    this.table = table;
  }

  /** Runs what the environment asks for. The one argument: the directory of the benchmarks. */
  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.of(System.getenv(), Rows.labels(), Rows.usual());
    Results results = run(settings, Path.of(arguments[0]), System.out);
    boolean met = Floor.outcomes(results.ratios()).stream().allMatch(Floor.Outcome::isMet);
    Runtime.getRuntime().exit(settings.checks() && !met ? 1 : 0);
  }

  /** Runs what settings say, and prints what comes out. */
  static Results run(Settings asked, Path directory, PrintStream out)
      throws IOException, InterruptedException {
    Path benchmarks = directory.toAbsolutePath().normalize();
    Path scratch = Files.createDirectories(benchmarks.resolve("runner/target/bench"));
    Path logs = Files.createTempDirectory(scratch, "run-");
    Table table = new Table(out);
    Settings settings = asked.with(available(asked.subjects(), table));
    table.print(
        "seed %d, %d rounds of %.1f s, %d connections, logs in %s",
        settings.seed(), settings.rounds(), settings.seconds(), settings.connections(), logs);
    Jvms jvms = new Jvms(benchmarks);
    Processors processors = Processors.measure();
    table.print(
        "one processor sorts %.1f times a millisecond, all at once do %.2f times that; a read in 4 MB"
            + " takes %.0f ns",
        processors.sorts(), processors.atOnce(), processors.readNanos());
    try (Stage stage = new Stage(settings, jvms, logs)) {
      Bench bench = new Bench(settings, jvms, processors, stage, table);
      bench.run();
      return bench.results;
    }
  }

  /** Leaves out what is not installed, and says so. */
  private static Set<Subject> available(Set<Subject> asked, Table table) {
    Set<Subject> available = new TreeSet<>();
    for (Subject subject : asked) {
      Optional<String> missing =
          Neighbours.program(subject).filter(program -> Neighbours.find(program).isEmpty());
      if (missing.isEmpty()) {
        available.add(subject);
      } else {
        table.print(
            "*** SKIPPED %s: there is no %s here; its Debian package is %s ***",
            subject.label(),
            missing.orElseThrow(),
            Neighbours.debianPackage(missing.orElseThrow()));
      }
    }
    return available;
  }

  private void run() throws IOException, InterruptedException {
    List<Row> rows =
        Rows.all().stream()
            .filter(row -> settings.rows().contains(row.label()))
            .filter(row -> !row.subjects(settings.subjects()).isEmpty())
            .toList();
    Set<Subject> subjects = new TreeSet<>();
    rows.forEach(row -> subjects.addAll(row.subjects(settings.subjects())));
    for (Subject subject : subjects) {
      WarmUp.run(stage.scene(subject), settings, table);
    }
    List<String> failed = new ArrayList<>();
    for (Row row : rows) {
      try {
        row.run(settings, stage, results);
        table.row(row.label(), results);
      } catch (IOException | RuntimeException e) {
        // The others were not cheap to measure: what they say is kept before the run fails.
        failed.add(row.label());
        results.figure(row.label(), "failed", String.valueOf(e.getMessage()));
        table.print("*** FAILED %s: %s ***", row.label(), e);
      }
    }
    table.verdict(results.ratios());
    if (settings.writes()) {
      write();
    }
    if (!failed.isEmpty()) {
      throw new IOException("rows that could not be measured: " + failed);
    }
  }

  private void write() throws IOException {
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    about.put("machine", Machine.describe(processors));
    about.put("versions", Machine.versions(jvms));
    about.put("settings", settings.describe());
    Path documents = Files.createDirectories(jvms.root().resolve("docs/benchmarks"));
    Path latest = documents.resolve("latest.json");
    String written = ResultsJson.of(about, results);
    boolean isSelection = !settings.rows().containsAll(Rows.usual());
    Files.writeString(
        latest,
        isSelection && Files.exists(latest)
            ? ResultsJson.merged(Files.readString(latest), written, about.keySet())
            : written);
    Plots.write(documents, results);
    table.print("%nwritten: docs/benchmarks/latest.json, and the plots beside it");
  }
}
