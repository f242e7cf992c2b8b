package io.lockkeeper.integration.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.server.testing.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two instances of the shop, on one coordinator. */
final class SpringBootExampleIT {

  private static final int ITEMS = 40;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final HttpClient http = HttpClient.newHttpClient();
  private final Path ledger = Scratch.directory("shop");
  private final int firstPort = Ports.free();
  private final int secondPort = Ports.free();
  private final ExampleProcess first = start(firstPort);
  private final ExampleProcess second = start(secondPort);

  private ExampleProcess start(int port) {
    return ExampleProcess.start(
        "spring-boot",
        "--lockkeeper.servers=" + Rig.shared().server().address(),
        "--server.port=" + port,
        "--shop.ledger=" + ledger);
  }

  @AfterEach
  void stop() {
    first.close();
    second.close();
  }

  @Test
  void instancesTogetherLoseNoItemAndOneReportsUntilItIsKilled() {
    // Given
    Stream.of(first, second).forEach(instance -> instance.await("Started ShopApplication"));
    awaitReporters(1, List.of(firstPort, secondPort));

    // When
    List<CompletableFuture<HttpResponse<String>>> shipped =
        IntStream.range(0, ITEMS)
            .mapToObj(item -> post(item % 2 == 0 ? firstPort : secondPort, "/orders/42/items"))
            .toList();
    shipped.forEach(CompletableFuture::join);

    // Then
    assertThat(shipped).allSatisfy(answer -> assertThat(answer.join().statusCode()).isEqualTo(200));
    assertThat(get(secondPort, "/orders/42/items")).isEqualTo(Integer.toString(ITEMS));
    assertThat(get(firstPort, "/actuator/health")).contains("\"lockkeeper\":{\"status\":\"UP\"}");
    assertThat(get(firstPort, "/actuator/metrics/lockkeeper.client.acquire")).contains("acquired");

    // When
    boolean firstReports = get(firstPort, "/reporter").equals("true");
    (firstReports ? first : second).kill();

    // Then
    awaitReporters(1, List.of(firstReports ? secondPort : firstPort));
  }

  private void awaitReporters(int count, List<Integer> ports) {
    Awaitility.await()
        .until(
            () ->
                ports.stream().filter(port -> get(port, "/reporter").equals("true")).count()
                    == count);
  }

  private String get(int port, String path) {
    try {
      return http.send(request(port, path).build(), BodyHandlers.ofString()).body();
    } catch (IOException e) {
      return "not reached: " + e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private CompletableFuture<HttpResponse<String>> post(int port, String path) {
    return http.sendAsync(
        request(port, path).POST(HttpRequest.BodyPublishers.noBody()).build(),
        BodyHandlers.ofString());
  }

  private static HttpRequest.Builder request(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path)).timeout(PATIENCE);
  }
}
