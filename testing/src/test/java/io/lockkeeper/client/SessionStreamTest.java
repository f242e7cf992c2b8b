package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.client.internal.session.SessionStream;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.SessionResponseBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What travels in one message on a session stream, and what waits for nothing. */
class SessionStreamTest {

  private final ManualClock clock = new ManualClock();
  private final Loop loop = Loop.on(clock, "client-under-test");
  private final ScriptedServer server = new ScriptedServer(clock);
  private final List<SessionResponse> told = new ArrayList<>();
  private Consumer<SessionResponse> onTold = told::add;
  private SessionStream stream;

  @AfterEach
  void stop() {
    stream.shutDown();
    loop.stop();
    server.close();
  }

  private final class StreamOwner implements SessionStream.StreamListener {
    @Override
    public void onResponse(SessionResponse response) {
      onTold.accept(response);
    }

    @Override
    public void onEnd(ErrorDetails why) {
      // The server ends a stream that was retired.
    }
  }

  /** Lets the loop do something, and what comes of it. */
  private void inOneGo(Runnable task) {
    loop.execute(task);
    clock.settle();
  }

  private void open(boolean withBatches) {
    inOneGo(
        () -> {
          stream = new SessionStream(server.connect(), loop, new StreamOwner());
          OpenSession open = OpenSession.newBuilder().setBatches(withBatches).build();
          stream.send(SessionRequest.newBuilder().setOpen(open).build());
        });
    told.clear();
  }

  private static SessionRequest acquiring(int number) {
    return acquiring(number, "");
  }

  private static SessionRequest acquiring(int number, String holder) {
    return SessionRequest.newBuilder()
        .setAcquire(AcquireRequest.newBuilder().setRequestId("r" + number).setHolder(holder))
        .build();
  }

  private void sendAll(int first, int last) {
    IntStream.rangeClosed(first, last).forEach(i -> stream.send(acquiring(i)));
  }

  /** Returns what came after the first message, each as the requests in it. */
  private List<List<SessionRequest>> messages() {
    return server.messages().stream().skip(1).map(ScriptedServer::parts).toList();
  }

  @Test
  void requestsOfSeveralTasksThatWaitForTheLoopAreOneMessage() {
    // Given
    open(true);
    CompletableFuture<Void> given = new CompletableFuture<>();
    // When
    loop.execute(
        () -> {
          loop.execute(() -> sendAll(2, 2));
          loop.execute(() -> sendAll(3, 3));
          sendAll(1, 1);
          given.complete(null);
        });
    given.join(); // Before others give the loop something in between.
    clock.settle();
    // Then
    assertThat(messages()).containsExactly(List.of(acquiring(1), acquiring(2), acquiring(3)));
  }

  @Test
  void requestOfALoopThatIsIdleGoesAloneAndAtOnce() {
    // Given
    open(true);
    // When
    inOneGo(() -> sendAll(1, 1));
    inOneGo(() -> sendAll(2, 2));
    // Then
    assertThat(server.messages().subList(1, 3)).containsExactly(acquiring(1), acquiring(2));
  }

  @Test
  void moreRequestsThanFitAreSeveralMessagesInTheirOrder() {
    // Given
    open(true);
    // When
    inOneGo(() -> sendAll(1, 1_001));
    // Then
    assertThat(messages()).extracting(List::size).containsExactly(200, 200, 200, 200, 200, 1);
    assertThat(messages().stream().flatMap(List::stream))
        .containsExactlyElementsOf(
            IntStream.rangeClosed(1, 1_001).mapToObj(i -> acquiring(i)).toList());
  }

  @Test
  void noBatchIsLargerThanAServerTakes() {
    // Given
    open(true);
    String holder = "h".repeat(20_000);
    // When
    inOneGo(() -> IntStream.rangeClosed(1, 5).forEach(i -> stream.send(acquiring(i, holder))));
    // Then
    assertThat(messages()).hasSize(5);
    assertThat(messages().stream().flatMap(List::stream))
        .extracting(request -> request.getAcquire().getRequestId())
        .containsExactly("r1", "r2", "r3", "r4", "r5");
  }

  @Test
  void keepAliveWaitsForNothingThatTheLoopHasStillToDo() {
    // Given
    open(true);
    SessionRequest keepAlive = SessionRequests.keepAlive(7);
    // When
    inOneGo(
        () -> {
          sendAll(1, 1);
          stream.send(keepAlive);
          sendAll(2, 3);
        });
    // Then
    assertThat(messages())
        .containsExactly(List.of(acquiring(1), keepAlive), List.of(acquiring(2), acquiring(3)));
  }

  @Test
  void streamThatIsRetiredSendsWhatWaits() {
    // Given
    open(true);
    // When
    inOneGo(
        () -> {
          sendAll(1, 2);
          stream.retire();
          sendAll(3, 3);
        });
    // Then
    assertThat(messages()).containsExactly(List.of(acquiring(1), acquiring(2)));
  }

  @Test
  void streamThatIsAbandonedSendsNothingMore() {
    // Given
    open(true);
    // When
    inOneGo(
        () -> {
          sendAll(1, 2);
          stream.abandon();
        });
    // Then
    assertThat(messages()).isEmpty();
  }

  @Test
  void serverThatKnowsNoBatchesGetsNone() {
    // Given
    open(false);
    // When
    inOneGo(() -> sendAll(1, 2));
    // Then
    assertThat(server.messages().stream().skip(1)).containsExactly(acquiring(1), acquiring(2));
  }

  private static SessionResponse batch(SessionResponse... responses) {
    return SessionResponse.newBuilder()
        .setBatch(SessionResponseBatch.newBuilder().addAllResponses(List.of(responses)))
        .build();
  }

  private static SessionResponse queued(String id) {
    return ScriptedServer.event(
        AcquireResponse.newBuilder().setQueued(Queued.getDefaultInstance()), id, 1);
  }

  @Test
  void ownerThatGivesTheStreamUpWithinABatchHearsNoMoreOfIt() {
    // Given
    open(true);
    onTold =
        response -> {
          told.add(response);
          stream.abandon();
        };
    // When
    server.send(batch(queued("r1"), queued("r2")));
    // Then
    assertThat(told).containsExactly(queued("r1"));
  }
}
