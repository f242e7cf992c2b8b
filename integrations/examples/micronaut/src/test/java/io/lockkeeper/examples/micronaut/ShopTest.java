package io.lockkeeper.examples.micronaut;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The application, started once, with a coordinator in memory. */
class ShopTest {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private static final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private static final ApplicationContext context = application(server);
  private static final EmbeddedServer http = context.getBean(EmbeddedServer.class).start();

  private final Stock stock = context.getBean(Stock.class);

  @AfterAll
  static void stop() {
    context.close();
    server.close();
  }

  private static ApplicationContext application(InMemoryLockkeeper coordinator) {
    return ApplicationContext.builder()
        .singletons(coordinator)
        .properties(Map.of("micronaut.server.port", -1))
        .start();
  }

  @Test
  void bothRoutesSellAndMeasureTheirWaits() {
    // Given
    stock.fill("lamp", 2);
    MeterRegistry meters = context.getBean(MeterRegistry.class);
    // When
    HttpResponse<String> first = post("/sales/lamp").join();
    HttpResponse<String> second = post("/sales/lamp/async").join();
    // Then
    assertThat(List.of(first.statusCode(), second.statusCode())).containsOnly(200);
    assertThat(List.of(first.body(), second.body())).containsExactly("1", "0");
    assertThat(meters.find("lockkeeper.client.acquire").tag("outcome", "acquired").timers())
        .isNotEmpty();
  }

  @Test
  void saleOfWhatIsNotInStockIsAConflict() {
    // When
    HttpResponse<String> sale = post("/sales/unicorn").join();
    HttpResponse<String> asyncSale = post("/sales/unicorn/async").join();
    HttpResponse<String> noName = post("/sales/a%0Ab").join();
    // Then
    assertThat(List.of(sale.statusCode(), asyncSale.statusCode(), noName.statusCode()))
        .containsOnly(409);
    assertThat(sale.body()).contains("no unicorn is in stock");
  }

  @Test
  void saleThatDoesNotGetTheLockInTimeIsToBeTriedAgain() throws InterruptedException {
    // Given
    try (LockkeeperClient other = server.clientBuilder().build();
        LockHandle held = other.lock("stock/chair")) {
      // When
      CompletableFuture<HttpResponse<String>> sale = post("/sales/chair");
      CompletableFuture<HttpResponse<String>> asyncSale = post("/sales/chair/async");
      // Then
      assertThat(List.of(sale.join().statusCode(), asyncSale.join().statusCode()))
          .containsOnly(503);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void instanceIsReadyWhileACoordinatorAnswers() throws IOException, InterruptedException {
    // Given
    await().until(() -> readiness() == 200);
    // When
    server.refuseCalls(true);
    int without = readiness();
    // Then
    server.refuseCalls(false);
    assertThat(without).isEqualTo(503);
    await().until(() -> readiness() == 200);
  }

  @Test
  void clientIsClosedWithTheApplication() throws InterruptedException {
    // Given
    try (InMemoryLockkeeper own = InMemoryLockkeeper.start()) {
      ApplicationContext ending = application(own);
      LockkeeperClient client = ending.getBean(LockkeeperClient.class);
      LockHandle held = client.lock("stock/lamp");
      // When
      ending.close();
      // Then
      assertThat(own.leaseCount()).isZero();
      assertThat(held.isValid()).isFalse();
      assertThatIllegalStateException().isThrownBy(() -> client.lock("stock/lamp"));
    }
  }

  private static CompletableFuture<HttpResponse<String>> post(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(http.getURI().resolve(path)).POST(BodyPublishers.noBody()).build();
    return CLIENT.sendAsync(request, BodyHandlers.ofString());
  }

  private static int readiness() throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(http.getURI().resolve("/health/readiness")).build();
    return CLIENT.send(request, BodyHandlers.discarding()).statusCode();
  }
}
