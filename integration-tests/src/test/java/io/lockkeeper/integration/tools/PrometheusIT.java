package io.lockkeeper.integration.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Polyglot;
import io.lockkeeper.integration.harness.Polyglot.Running;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Metrics, rules and dashboard as a real Prometheus sees them. */
final class PrometheusIT {

  private static final Path MONITORING = Path.of("..", "monitoring").toAbsolutePath().normalize();
  private static final Path RULES = MONITORING.resolve("prometheus/lockkeeper.rules.yml");
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * Panels that are empty while nothing is refused, nothing is kept secret, and memory is large.
   */
  private static final Set<String> EMPTY = Set.of("Certificate", "Refused");

  private final HttpClient http = HttpClient.newHttpClient();
  private final ServerProcess server = Rig.shared().server();

  @BeforeEach
  void assumePrometheus() {
    Polyglot.PROMETHEUS.assumeInstalled();
    Polyglot.PROMTOOL.assumeInstalled();
  }

  private String get(String uri) throws IOException, InterruptedException {
    return http.send(HttpRequest.newBuilder(URI.create(uri)).build(), BodyHandlers.ofString())
        .body();
  }

  private static String promtool(byte[] input, String... words) throws IOException {
    try (Running run = Polyglot.PROMTOOL.start(words)) {
      try (OutputStream in = run.process().getOutputStream()) {
        in.write(input);
      }
      String output =
          new String(run.process().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return "exit " + run.awaitExit() + "\n" + output + run.said();
    }
  }

  /** Holds a lock, lets somebody wait for it, and one request be refused. */
  private void contend(String lock) throws InterruptedException {
    try (LockkeeperClient client = LockkeeperClient.builder(server.address()).build()) {
      LockHandle held = client.lock(lock);
      Asking waiter = Asking.forLock(server.connect(), lock);
      waiter.await(EventCase.QUEUED);
      Asking impatient = Asking.with(server.connect(), Asking.request(lock, Duration.ZERO).build());
      impatient.await(EventCase.NOT_ACQUIRED);
      held.close();
      waiter.await(EventCase.GRANTED);
      waiter.hangUp();
    }
  }

  @Test
  void promtoolFindsNothingWrongWithTheMetrics() throws Exception {
    // Given
    contend("checked/1");
    byte[] metrics =
        get("http://127.0.0.1:" + server.httpPort() + "/metrics").getBytes(StandardCharsets.UTF_8);

    // When
    String said = promtool(metrics, "check", "metrics");

    // Then
    assertThat(said).isEqualTo("exit 0\n");
  }

  @Test
  void rulesPassTheirTests() throws Exception {
    // When
    String checked = promtool(new byte[0], "check", "rules", RULES.toString());
    String tested =
        promtool(
            new byte[0], "test", "rules", MONITORING.resolve("prometheus/tests.yml").toString());

    // Then
    assertThat(checked).startsWith("exit 0\n");
    assertThat(tested).startsWith("exit 0\n");
  }

  @Test
  void prometheusScrapesEvaluatesTheRulesAndFillsTheDashboard() throws Exception {
    // Given
    Path directory = Scratch.directory("prometheus");
    int port = Ports.free();
    try (Running prometheus = start(directory, port, server.httpPort())) {
      Api api = new Api("http://127.0.0.1:" + port);
      Awaitility.await("a scrape: " + prometheus.said())
          .ignoreExceptions()
          .until(() -> api.value("up{job=\"lockkeeper\"}") == 1);

      // When
      contend("scraped/1");

      // Then
      Awaitility.await("the waits")
          .until(() -> api.value(waits("granted")) == 2 && api.value(waits("timed_out")) == 1);
      assertThat(
              api.value(
                  "histogram_quantile(0.99, lockkeeper_wait_seconds_bucket{namespace=\"scraped\"})"))
          .isFinite();
      Awaitility.await("the call that was cancelled")
          .until(() -> api.value("lockkeeper_releases_total{how=\"cancelled\"}") >= 1);
      Awaitility.await("the rules").until(() -> api.sickRules().isEmpty());
      Awaitility.await("the panels")
          .untilAsserted(() -> assertThat(api.emptyPanels()).isSubsetOf(EMPTY));
    }
  }

  private static String waits(String outcome) {
    return "lockkeeper_wait_seconds_count{namespace=\"scraped\",outcome=\"" + outcome + "\"}";
  }

  private static Running start(Path directory, int port, int target) throws IOException {
    Path config = directory.resolve("prometheus.yml");
    Files.writeString(
        config,
        """
        global:
          scrape_interval: 1s
          evaluation_interval: 1s
        rule_files: ['%s']
        scrape_configs:
          - job_name: lockkeeper
            static_configs:
              - targets: ['127.0.0.1:%d']
        """
            .formatted(RULES, target));
    return Polyglot.PROMETHEUS.start(
        "--config.file=" + config,
        "--storage.tsdb.path=" + directory.resolve("data"),
        "--web.listen-address=127.0.0.1:" + port,
        "--log.level=warn");
  }

  /** What Prometheus answers. */
  private final class Api {
    private final String address;

    Api(String address) {
      this.address = address;
    }

    private JsonNode data(String path) throws IOException, InterruptedException {
      JsonNode answer = JSON.readTree(get(address + path));
      assertThat(answer.path("status").asString()).as(answer.toString()).isEqualTo("success");
      return answer.path("data");
    }

    private JsonNode query(String expression) throws IOException, InterruptedException {
      return data("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
          .path("result");
    }

    /** Returns the first value, not a number if there is none. */
    double value(String expression) throws IOException, InterruptedException {
      return Double.parseDouble(
          query(expression).path(0).path("value").path(1).asString("NaN").replace("+Inf", "NaN"));
    }

    Set<String> sickRules() throws IOException, InterruptedException {
      Set<String> sick = new TreeSet<>();
      for (JsonNode group : data("/api/v1/rules").path("groups")) {
        for (JsonNode rule : group.path("rules")) {
          if (!rule.path("health").asString().equals("ok")) {
            sick.add(rule.path("name").asString());
          }
        }
      }
      return sick;
    }

    /** Returns the titles of the panels of which no query has an answer. */
    Set<String> emptyPanels() throws IOException, InterruptedException {
      JsonNode dashboard =
          JSON.readTree(Files.readString(MONITORING.resolve("grafana/lockkeeper.json")));
      Set<String> empty = new TreeSet<>();
      for (JsonNode panel : dashboard.path("panels")) {
        boolean found = panel.path("type").asString().equals("row");
        for (JsonNode target : panel.path("targets")) {
          String expression =
              target
                  .path("expr")
                  .asString()
                  .replace("$instance", ".+")
                  .replace("$__rate_interval", "1m");
          found |= !query(expression).isEmpty();
        }
        if (!found) {
          empty.add(panel.path("title").asString());
        }
      }
      return empty;
    }
  }
}
