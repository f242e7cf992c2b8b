package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.testing.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of metrics, in the documents, the dashboard and the rules, is what is exported. */
class MetricsDocumentationTest {

  private static final Path ROOT = Path.of("..");
  private static final Path RULES = ROOT.resolve("monitoring/prometheus/lockkeeper.rules.yml");
  private static final Path RULES_TEST = ROOT.resolve("monitoring/prometheus/tests.yml");
  private static final Path DASHBOARD = ROOT.resolve("monitoring/grafana/lockkeeper.json");
  private static final Pattern TYPE = Pattern.compile("# TYPE (lockkeeper_\\w+) (\\w+)");
  private static final Pattern ROW =
      Pattern.compile("\\| `(lockkeeper_\\w+)(?:\\{([\\w,]+)})?` \\| (\\w+) \\|");
  private static final Pattern NAME =
      Pattern.compile("(?<!:)\\b(?:lockkeeper|jvm|process|system)_\\w++(?!:)");
  private static final Pattern RUNBOOK = Pattern.compile("runbook_url: docs/operations.md#(\\S+)");
  private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");

  @TempDir private static Path folder;

  private static String exposed = "";

  @BeforeAll
  static void scrape() throws Exception {
    Certificates.Signed own = Certificates.authority(folder, "ca").sign("own");
    Map<String, String> settings = new HashMap<>();
    settings.put("zookeeper", "127.0.0.1:" + Ports.free());
    settings.put("listen", "127.0.0.1:0");
    settings.put("http", "127.0.0.1:0");
    settings.put("tls-cert", own.certificate().toString());
    settings.put("tls-key", own.key().toString());
    try (LockkeeperServer server =
        LockkeeperServer.start(ServerConfig.of(Profile.SERVE, settings))) {
      URI uri = URI.create("http://127.0.0.1:" + server.httpPort() + "/metrics");
      exposed =
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
              .body();
    }
  }

  /** Returns the kinds of the families that are exported. */
  private static Map<String, String> families() {
    Map<String, String> families = new TreeMap<>();
    for (MatchResult type : TYPE.matcher(exposed).results().toList()) {
      families.put(type.group(1), type.group(2));
    }
    // Beside a histogram or a summary.
    families.keySet().removeIf(name -> name.endsWith("_max"));
    return families;
  }

  private static Set<String> labels(String family) {
    Pattern series = Pattern.compile("(?m)^" + family + "(?:_count)?\\{(.*)} ");
    return series
        .matcher(exposed)
        .results()
        .flatMap(line -> Pattern.compile("(\\w+)=\"").matcher(line.group(1)).results())
        .map(label -> label.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<MatchResult> rows() throws IOException {
    return ROW.matcher(Files.readString(ROOT.resolve("docs/metrics.md"))).results().toList();
  }

  private static Set<String> alerts() throws IOException {
    return ALERT
        .matcher(Files.readString(RULES))
        .results()
        .map(alert -> alert.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void tableHasEveryMetricWithItsKindAndNoOther() throws IOException {
    // Given
    Map<String, String> documented = new TreeMap<>();
    // When
    for (MatchResult row : rows()) {
      documented.put(row.group(1), row.group(3));
    }
    // Then
    assertThat(documented).isEqualTo(families());
  }

  @Test
  void tableHasTheLabelsOfEveryMetric() throws IOException {
    for (MatchResult row : rows()) {
      String written = row.group(2) == null ? "" : row.group(2);
      Set<String> documented = new TreeSet<>(List.of(written.split(",", -1)));
      documented.remove("");
      assertThat(documented).as(row.group(1)).isEqualTo(labels(row.group(1)));
    }
  }

  @Test
  void everyMetricSaysWhatItIs() {
    for (String family : families().keySet()) {
      assertThat(exposed).containsPattern("(?m)^# HELP " + family + " \\S");
    }
  }

  @Test
  void dashboardAndRulesNameOnlyWhatIsExported() throws IOException {
    for (Path file : List.of(DASHBOARD, RULES, RULES_TEST)) {
      Set<String> unknown = new TreeSet<>();
      Matcher names = NAME.matcher(Files.readString(file));
      while (names.find()) {
        if (!isExported(names.group())) {
          unknown.add(names.group());
        }
      }
      assertThat(unknown).as(file.toString()).isEmpty();
    }
  }

  private static boolean isExported(String name) {
    // Not before the first collection.
    return name.startsWith("jvm_gc_pause_seconds")
        || Pattern.compile("(?m)^" + name + "[ {]").matcher(exposed).find();
  }

  @Test
  void everyAlertHasASummaryADescriptionAndARunbookThatIsThere() throws IOException {
    // Given
    String rules = Files.readString(RULES);
    String[] parts = rules.split("- alert: ", -1);
    Set<String> anchors =
        Files.readString(ROOT.resolve("docs/operations.md"))
            .lines()
            .filter(line -> line.startsWith("#"))
            .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replace(' ', '-'))
            .collect(Collectors.toSet());
    // When // Then
    assertThat(parts).hasSizeGreaterThan(10);
    for (int i = 1; i < parts.length; i++) {
      String name = parts[i].lines().findFirst().orElseThrow();
      assertThat(parts[i])
          .as(name)
          .contains("summary: ")
          .contains("description: ")
          .contains("severity: ");
      Matcher runbook = RUNBOOK.matcher(parts[i]);
      assertThat(runbook.find()).as(name).isTrue();
      assertThat(anchors).as(name).contains(runbook.group(1));
    }
  }

  @Test
  void everyAlertHasATestThatLetsItFire() throws IOException {
    // When
    Set<String> fired =
        Pattern.compile("alertname: (\\w+)\\s+exp_alerts:\\s+- exp_labels:")
            .matcher(Files.readString(RULES_TEST))
            .results()
            .map(test -> test.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    // Then
    assertThat(fired).isEqualTo(alerts());
  }
}
