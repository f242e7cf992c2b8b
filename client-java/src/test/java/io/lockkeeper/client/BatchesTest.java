package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.testing.ManualClock;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionRequest.RequestCase;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.SessionResponseBatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several requests, and several responses, in one message. */
class BatchesTest {

  private final ManualClock clock = new ManualClock();
  private final ScriptedServer server = new ScriptedServer(clock);
  private final LockkeeperClient client =
      LockkeeperClient.builder("in-memory")
          .channels(address -> server.connect())
          .callbackExecutor(Runnable::run)
          .clock(clock)
          .build();
  private boolean known = true;

  @BeforeEach
  void open() {
    server.script(this::answer);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private void answer(SessionRequest request, StreamObserver<SessionResponse> to) {
    if (request.hasOpen()) {
      SessionOpened.Builder opened =
          SessionOpened.newBuilder()
              .setLeaseId("lease")
              .setBatches(known && request.getOpen().getBatches());
      opened.getTtlBuilder().setSeconds(ScriptedServer.TTL_SECONDS);
      opened.getValidForBuilder().setSeconds(ScriptedServer.TTL_SECONDS);
      to.onNext(SessionResponse.newBuilder().setOpened(opened).build());
    }
    if (request.hasClose()) {
      to.onNext(
          SessionResponse.newBuilder().setLeaseEnded(LeaseEnded.getDefaultInstance()).build());
    }
  }

  /** Asks for locks before there is a stream, so that all are sent when there is. */
  private List<CompletableFuture<LockHandle>> acquire(int count) {
    List<CompletableFuture<LockHandle>> asked =
        IntStream.range(0, count)
            .mapToObj(i -> client.acquire(LockRequest.of("orders/" + i)))
            .toList();
    clock.settle();
    return asked;
  }

  private static List<String> names(List<SessionRequest> requests) {
    return requests.stream().map(r -> r.getAcquire().getLocks(0).getName()).toList();
  }

  private static List<String> names(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> "orders/" + i).toList();
  }

  @Test
  void requestsOfOneTurnTravelTogetherAndInOrder() {
    // When
    acquire(300);
    // Then
    List<SessionRequest> parts = new ArrayList<>();
    for (SessionRequest message : server.wishes()) {
      assertThat(message.getBatch().getRequestsCount()).isLessThanOrEqualTo(256);
      parts.addAll(message.hasBatch() ? message.getBatch().getRequestsList() : List.of(message));
    }
    assertThat(names(parts)).isEqualTo(names(0, 300));
    assertThat(server.wishes()).hasSizeLessThan(10);
  }

  @Test
  void serverThatDoesNotKnowBatchesGetsNone() {
    // Given
    known = false;
    // When
    acquire(20);
    // Then
    assertThat(names(server.wishes())).isEqualTo(names(0, 20));
  }

  @Test
  void batchIsNoLargerThanAServerTakes() {
    // When
    for (int i = 0; i < 100; i++) {
      CompletableFuture<LockHandle> unused =
          client.acquire(LockRequest.of("orders/" + i).metadata("note", "x".repeat(1_000)));
    }
    clock.settle();
    // Then
    assertThat(server.wishes())
        .hasSizeGreaterThan(2)
        .allMatch(message -> message.getSerializedSize() < 64 * 1024)
        .anyMatch(SessionRequest::hasBatch);
  }

  @Test
  void responsesOfOneMessageAreTakenInOrderUntilOneEndsTheLease() {
    // Given
    List<CompletableFuture<LockHandle>> asked = acquire(3);
    List<String> ids =
        server.wishes().stream()
            .flatMap(m -> m.getBatch().getRequestsList().stream())
            .map(r -> r.getAcquire().getRequestId())
            .toList();
    // When
    server.send(
        SessionResponse.newBuilder()
            .setBatch(
                SessionResponseBatch.newBuilder()
                    .addResponses(ScriptedServer.granted(ids.get(0), 1, "orders/0", 1))
                    .addResponses(ScriptedServer.granted(ids.get(1), 1, "orders/1", 2))
                    .addResponses(
                        SessionResponse.newBuilder().setLeaseEnded(LeaseEnded.getDefaultInstance()))
                    .addResponses(ScriptedServer.granted(ids.get(2), 1, "orders/2", 3)))
            .build());
    // Then
    assertThat(asked.get(0)).isCompleted();
    assertThat(asked.get(1)).isCompleted();
    assertThat(asked.get(0).join().isValid()).isFalse();
    assertThat(asked.get(2))
        .failsWithin(Duration.ofSeconds(20))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LeaseLostException.class);
  }

  @Test
  void releaseAndNextRequestOfACallbackTravelTogether() {
    // Given
    CompletableFuture<Void> done =
        client
            .acquire(LockRequest.of("orders/0"))
            .thenAccept(
                handle -> {
                  CompletableFuture<Void> released = handle.releaseAsync();
                  CompletableFuture<LockHandle> next = client.acquire(LockRequest.of("orders/1"));
                  assertThat(List.of(released, next)).noneMatch(CompletableFuture::isDone);
                });
    clock.settle();
    String id = server.wishes().get(0).getAcquire().getRequestId();
    // When
    server.send(ScriptedServer.granted(id, 1, "orders/0", 1));
    // Then
    assertThat(done).isCompleted();
    assertThat(server.wishes()).hasSize(2);
    assertThat(server.wishes().get(1).getBatch().getRequestsList())
        .extracting(SessionRequest::getRequestCase)
        .containsExactly(RequestCase.RELEASE, RequestCase.ACQUIRE);
  }
}
