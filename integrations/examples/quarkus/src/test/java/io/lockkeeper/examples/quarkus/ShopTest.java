package io.lockkeeper.examples.quarkus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.arc.Arc;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The application, started, with a coordinator in memory. */
@QuarkusTest
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ShopTest {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TestHTTPResource URI root;
  @Inject InMemoryLockkeeper server;
  @Inject Stock stock;
  @Inject MeterRegistry meters;

  @Test
  void bothResourcesSellAndMeasureTheirWaits() {
    // Given
    stock.fill("table", 2);
    // When
    HttpResponse<String> first = post("sales/table").join();
    HttpResponse<String> second = post("sales/table/async").join();
    // Then
    assertThat(List.of(first.statusCode(), second.statusCode())).containsOnly(200);
    assertThat(List.of(first.body(), second.body())).containsExactly("1", "0");
    assertThat(meters.find("lockkeeper.client.acquire").tag("outcome", "acquired").timers())
        .isNotEmpty();
  }

  @Test
  void saleOfWhatIsNotInStockIsAConflict() {
    // When
    HttpResponse<String> sale = post("sales/unicorn").join();
    HttpResponse<String> asyncSale = post("sales/unicorn/async").join();
    HttpResponse<String> noName = post("sales/a%0Ab").join();
    // Then
    assertThat(List.of(sale.statusCode(), asyncSale.statusCode(), noName.statusCode()))
        .containsOnly(409);
    assertThat(sale.body()).contains("no unicorn is in stock");
  }

  @Test
  void saleThatDoesNotGetTheLockInTimeIsToBeTriedAgain() throws InterruptedException {
    // Given
    stock.fill("bench", 2);
    try (LockkeeperClient other = server.clientBuilder().build();
        LockHandle held = other.lock("stock/bench")) {
      // When
      CompletableFuture<HttpResponse<String>> sale = post("sales/bench");
      CompletableFuture<HttpResponse<String>> asyncSale = post("sales/bench/async");
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
  @Order(Integer.MAX_VALUE)
  void clientWhoseBeanIsDestroyedGivesItsLocksBack() throws InterruptedException {
    // Given
    LockkeeperClient client = Arc.container().instance(LockkeeperClient.class).get();
    LockHandle held = client.lock("stock/lamp");
    // When
    Arc.container().instance(LockkeeperClient.class).destroy();
    // Then
    assertThat(server.leaseCount()).isZero();
    assertThat(held.isValid()).isFalse();
    assertThatIllegalStateException().isThrownBy(() -> client.lock("stock/lamp"));
  }

  private CompletableFuture<HttpResponse<String>> post(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(root.resolve(path)).POST(BodyPublishers.noBody()).build();
    return HTTP.sendAsync(request, BodyHandlers.ofString());
  }

  private int readiness() throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(root.resolve("q/health/ready")).build();
    return HTTP.send(request, BodyHandlers.discarding()).statusCode();
  }
}
