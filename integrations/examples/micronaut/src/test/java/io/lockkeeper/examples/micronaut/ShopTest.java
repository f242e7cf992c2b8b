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
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The application, started, with a coordinator in memory. */
@Timeout(60)
class ShopTest {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private InMemoryLockkeeper server;
  private ApplicationContext context;
  private Shop shop;
  private Stock stock;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start();
    context =
        ApplicationContext.builder()
            .singletons(server)
            .properties(Map.of("micronaut.server.port", -1))
            .start();
    shop = context.getBean(Shop.class);
    stock = context.getBean(Stock.class);
  }

  @AfterEach
  void stop() {
    context.close();
    server.close();
  }

  @Test
  void salesWaitWhileAnotherClientHoldsTheItem() throws InterruptedException {
    // Given
    stock.fill("lamp", 3);
    try (LockkeeperClient other = server.clientBuilder().build()) {
      LockHandle held = other.lock("stock/lamp");
      CompletableFuture<Integer> sale = CompletableFuture.supplyAsync(() -> sell("lamp"));
      CompletableFuture<Integer> asyncSale = shop.sellAsync("lamp");
      await()
          .atMost(Duration.ofSeconds(50))
          .until(() -> other.getLock("stock/lamp").queueLength() == 2);
      boolean soldBefore = sale.isDone() || asyncSale.isDone();
      int left = stock.take("lamp", held.fencingToken());
      // When
      held.close();
      // Then
      assertThat(soldBefore).isFalse();
      assertThat(left).isEqualTo(2);
      assertThat(sale.join() + asyncSale.join()).isEqualTo(1);
    }
  }

  @Test
  void changeWithAnOldTokenIsRefused() throws InterruptedException {
    // Given
    stock.fill("lamp", 2);
    long old;
    try (LockkeeperClient other = server.clientBuilder().build();
        LockHandle held = other.lock("stock/lamp")) {
      old = held.fencingToken();
    }
    // When
    int left = shop.sell("lamp");
    stock.fill("lamp", 2);
    // Then
    assertThat(left).isEqualTo(1);
    assertThatIllegalStateException()
        .isThrownBy(() -> stock.take("lamp", old))
        .withMessageContaining("lower");
  }

  @Test
  void bothRoutesSell() {
    // Given
    EmbeddedServer http = context.getBean(EmbeddedServer.class).start();
    stock.fill("lamp", 2);
    // When
    HttpResponse<String> first = post(http, "/sales/lamp").join();
    HttpResponse<String> second = post(http, "/sales/lamp/async").join();
    // Then
    assertThat(List.of(first.statusCode(), second.statusCode())).containsOnly(200);
    assertThat(List.of(first.body(), second.body())).containsExactly("1", "0");
  }

  @Test
  void saleOfWhatIsNotInStockIsAConflict() {
    // Given
    EmbeddedServer http = context.getBean(EmbeddedServer.class).start();
    // When
    HttpResponse<String> sale = post(http, "/sales/unicorn").join();
    HttpResponse<String> asyncSale = post(http, "/sales/unicorn/async").join();
    HttpResponse<String> noName = post(http, "/sales/a%0Ab").join();
    // Then
    assertThat(List.of(sale.statusCode(), asyncSale.statusCode(), noName.statusCode()))
        .containsOnly(409);
    assertThat(sale.body()).contains("no unicorn is in stock");
  }

  @Test
  void saleThatDoesNotGetTheLockInTimeIsToBeTriedAgain() throws InterruptedException {
    // Given
    EmbeddedServer http = context.getBean(EmbeddedServer.class).start();
    try (LockkeeperClient other = server.clientBuilder().build();
        LockHandle held = other.lock("stock/lamp")) {
      // When
      CompletableFuture<HttpResponse<String>> sale = post(http, "/sales/lamp");
      CompletableFuture<HttpResponse<String>> asyncSale = post(http, "/sales/lamp/async");
      // Then
      assertThat(List.of(sale.join().statusCode(), asyncSale.join().statusCode()))
          .containsOnly(503);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void instanceIsReadyWhileACoordinatorAnswers() throws IOException, InterruptedException {
    // Given
    EmbeddedServer http = context.getBean(EmbeddedServer.class).start();
    int before = readiness(http);
    // When
    server.refuseCalls(true);
    int without = readiness(http);
    // Then
    server.refuseCalls(false);
    assertThat(before).isEqualTo(200);
    assertThat(without).isEqualTo(503);
    await().atMost(Duration.ofSeconds(50)).until(() -> readiness(http) == 200);
  }

  @Test
  void waitsAreMeasured() throws InterruptedException {
    // Given
    stock.fill("lamp", 1);
    MeterRegistry meters = context.getBean(MeterRegistry.class);
    // When
    int unused = shop.sell("lamp");
    // Then
    assertThat(meters.find("lockkeeper.client.acquire").tag("outcome", "acquired").timers())
        .isNotEmpty();
  }

  @Test
  void applicationThatEndsGivesItsLocksBack() throws InterruptedException {
    // Given
    LockkeeperClient client = context.getBean(LockkeeperClient.class);
    LockHandle held = client.lock("stock/lamp");
    int leases = server.leaseCount();
    // When
    context.close();
    // Then
    assertThat(leases).isEqualTo(1);
    assertThat(server.leaseCount()).isZero();
    assertThat(held.isValid()).isFalse();
    assertThatIllegalStateException().isThrownBy(() -> client.lock("stock/lamp"));
  }

  private int sell(String item) {
    try {
      return shop.sell(item);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static CompletableFuture<HttpResponse<String>> post(EmbeddedServer http, String path) {
    HttpRequest request =
        HttpRequest.newBuilder(http.getURI().resolve(path)).POST(BodyPublishers.noBody()).build();
    return HTTP.sendAsync(request, BodyHandlers.ofString());
  }

  private static int readiness(EmbeddedServer http) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(http.getURI().resolve("/health/readiness")).build();
    return HTTP.send(request, BodyHandlers.discarding()).statusCode();
  }
}
