package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client does that waits for no server that is not there. */
class FailFastTest {

  private final ManualClock clock = new ManualClock();
  private final ScriptedServer first = new ScriptedServer(clock);
  private final ScriptedServer second = new ScriptedServer(clock);
  private final List<LockkeeperClient> clients = new ArrayList<>();

  @AfterEach
  void close() {
    first.script(ScriptedServer::keepAlive);
    second.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(5));
    clients.forEach(LockkeeperClient::close);
    first.close();
    second.close();
  }

  private ManagedChannel connect(String address) {
    return (address.startsWith("first") ? first : second).connect();
  }

  private LockkeeperClientBuilder builder() {
    return builder("first:1,second:2");
  }

  private LockkeeperClientBuilder builder(String servers) {
    return LockkeeperClient.builder(servers)
        .channels(this::connect)
        .clock(clock)
        .callbackExecutor(Runnable::run);
  }

  private CompletableFuture<LockHandle> acquire(LockkeeperClientBuilder builder) {
    LockkeeperClient client = builder.build();
    clients.add(client);
    CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of("orders/42"));
    clock.advance(Duration.ofSeconds(2));
    return asked;
  }

  private static void end(ScriptedServer server, Status status) {
    server.script((request, stream) -> stream.onError(status.asRuntimeException()));
  }

  @Test
  void requestFailsWhenEachServerWasTriedOnceAndNoneIsThere() {
    // Given
    end(first, Status.UNAVAILABLE.withDescription("connection refused"));
    end(second, Status.UNAVAILABLE.withDescription("no route"));
    // When
    CompletableFuture<LockHandle> asked = acquire(builder().failFast());
    // Then
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            ServerUnavailableException.class,
            e ->
                assertThat(e.failures())
                    .containsExactly(
                        "first:1: UNAVAILABLE, connection refused",
                        "second:2: UNAVAILABLE, no route"));
  }

  @Test
  void requestIsRefusedWhenAServerHasAsManyClientsAsItMay() {
    // Given
    end(first, Status.UNAVAILABLE.withDescription("connection refused"));
    end(second, Status.RESOURCE_EXHAUSTED.withDescription("'shop' has its limit of 3 leases"));
    // When
    CompletableFuture<LockHandle> asked = acquire(builder().failFast());
    // Then
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .withMessageContaining("limit of 3 leases")
        .isInstanceOf(RequestRefusedException.class);
  }

  @Test
  void serverThatIsSlowAndTheOnlyOneHasMostOfTheRequestTimeout() {
    // Given
    first.script((request, stream) -> {});
    Duration limit = Duration.ofSeconds(10);
    CompletableFuture<LockHandle> asked =
        acquire(builder("first:1").failFast().requestTimeout(limit)); // and 2 s go by
    // When
    clock.advance(Duration.ofMillis(5_900));
    boolean early = asked.isDone();
    clock.advance(Duration.ofMillis(200));
    // Then
    assertThat(early).isFalse();
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            ServerUnavailableException.class,
            e ->
                assertThat(e.failures())
                    .containsExactly("first:1: UNAVAILABLE, no answer within 8000 ms"));
  }

  @Test
  void serverThatIsNotTriedIsTriedFirst() {
    // Given
    end(first, Status.UNAVAILABLE);
    second.script(ScriptedServer::answerOpen);
    // When
    CompletableFuture<LockHandle> asked = acquire(builder().failFast());
    // Then
    assertThat(second.streamCount()).isEqualTo(1);
    assertThat(asked).isNotDone();
  }

  @Test
  void otherClientsTryAgainUntilTheirRequestTimeoutAndAreThenToldOfTheLimit() {
    // Given
    end(first, Status.RESOURCE_EXHAUSTED.withDescription("full"));
    end(second, Status.RESOURCE_EXHAUSTED.withDescription("full"));
    CompletableFuture<LockHandle> asked = acquire(builder().requestTimeout(Duration.ofSeconds(10)));
    boolean early = asked.isDone();
    // When
    clock.advance(Duration.ofSeconds(9));
    // Then
    assertThat(early).isFalse();
    assertThat(asked)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(RequestRefusedException.class);
  }
}
