package io.lockkeeper.integration.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.server.testing.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The examples that sell over HTTP, started and asked as their pages say. */
final class SalesExamplesIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final HttpClient http = HttpClient.newHttpClient();
  private final int port = Ports.free();

  @ParameterizedTest
  @CsvSource({"quarkus, QUARKUS_HTTP_PORT", "micronaut, MICRONAUT_SERVER_PORT"})
  void exampleSellsWhatItHasAndSaysWhenThereIsNone(String name, String portVariable)
      throws Exception {
    // Given
    String servers = Rig.shared().server().address();
    Map<String, String> environment =
        Map.of(portVariable, Integer.toString(port), "LOCKKEEPER_SERVERS", servers);
    try (ExampleProcess example = ExampleProcess.start(name, environment)) {
      example.await(":" + port);

      // When
      HttpResponse<String> first = post("/sales/lamp");
      HttpResponse<String> second = post("/sales/lamp/async");
      HttpResponse<String> unknown = post("/sales/unicorn");
      HttpResponse<String> taken;
      try (LockkeeperClient other = LockkeeperClient.builder(servers).build();
          LockHandle lock = other.lock("stock/chair")) {
        taken = post("/sales/chair");
        lock.checkValid();
      }

      // Then
      assertThat(first.statusCode()).isEqualTo(200);
      assertThat(first.body()).isEqualTo("2");
      assertThat(second.statusCode()).isEqualTo(200);
      assertThat(second.body()).isEqualTo("1");
      assertThat(taken.statusCode()).isEqualTo(503);
      assertThat(unknown.statusCode()).isEqualTo(409);
      assertThat(unknown.body()).contains("no unicorn is in stock");
    }
  }

  private HttpResponse<String> post(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
            .timeout(PATIENCE)
            .POST(BodyPublishers.noBody())
            .build();
    return http.send(request, BodyHandlers.ofString());
  }
}
