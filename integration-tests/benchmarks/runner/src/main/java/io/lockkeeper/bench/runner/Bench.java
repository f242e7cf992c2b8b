package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The program behind {@code make bench}. */
public final class Bench {

  private static final int WARM_UP_CLIENTS = 256;
  private static final int WARM_UP_HOT_CLIENTS = 64;

  private final Settings settings;
  private final Stage stage;
  private final Table table;
  private final Results results = new Results();

  private Bench(Settings settings, Stage stage, Table table) {
    this.settings = settings;
    this.stage = stage;
    this.table = table;
  }

  /** Runs what the environment asks for. The one argument: the directory of the benchmarks. */
  public static void main(String[] arguments) throws Exception {
    Path benchmarks = Path.of(arguments[0]).toAbsolutePath().normalize();
    Settings settings = Settings.of(System.getenv(), rows());
    Path scratch = Files.createDirectories(benchmarks.resolve("runner/target/bench"));
    Path directory = Files.createTempDirectory(scratch, "run-");
    Table table = new Table(System.out);
    table.print(
        "seed %d, %d rounds of %.1f s, %d connections, logs in %s",
        settings.seed(), settings.rounds(), settings.seconds(), settings.connections(), directory);
    boolean met;
    try (Stage stage = new Stage(settings, new Jvms(benchmarks), directory)) {
      met = new Bench(settings, stage, table).run();
    }
    Runtime.getRuntime().exit(settings.checks() && !met ? 1 : 0);
  }

  private static List<String> rows() {
    return Arrays.stream(ComparedRow.values()).map(ComparedRow::label).toList();
  }

  private boolean run() throws IOException, InterruptedException {
    List<ComparedRow> compared =
        Arrays.stream(ComparedRow.values())
            .filter(row -> settings.rows().contains(row.label()))
            .toList();
    Set<Subject> subjects = new TreeSet<>();
    compared.forEach(row -> subjects.addAll(row.subjects(settings)));
    for (Subject subject : subjects) {
      warmUp(subject);
    }
    for (ComparedRow row : compared) {
      row.run(settings, stage, results);
      table.row(row.label(), results.summaries(row.label()));
    }
    table.verdict(results.ratios());
    return Floor.outcomes(results.ratios()).stream().allMatch(Floor.Outcome::isMet);
  }

  /** Lets the JVMs compile what both kinds of rows run. */
  private void warmUp(Subject subject) throws IOException, InterruptedException {
    long millis = Math.round(settings.warmUpSeconds() * 1e3);
    if (millis == 0) {
      return;
    }
    table.print("warming up %s", subject.label());
    Scene scene = stage.scene(subject);
    long hotMillis = Math.max(1, millis / 3);
    scene.warmUp(new Order(Shape.OWN, WARM_UP_CLIENTS, 0, Math.max(1, millis - hotMillis), 0, 0));
    scene.warmUp(new Order(Shape.HOT, WARM_UP_HOT_CLIENTS, 0, hotMillis, 0, 0));
  }
}
