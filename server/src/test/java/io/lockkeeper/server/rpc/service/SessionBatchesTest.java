package io.lockkeeper.server.rpc.service;

import static io.lockkeeper.server.rpc.SessionMessages.acquiring;
import static io.lockkeeper.server.rpc.SessionMessages.batch;
import static io.lockkeeper.server.rpc.SessionMessages.keepAlive;
import static io.lockkeeper.server.rpc.SessionMessages.opening;
import static io.lockkeeper.server.rpc.SessionMessages.resuming;
import static io.lockkeeper.server.rpc.SessionMessages.resumingWithBatches;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.rpc.InProcess;
import io.lockkeeper.server.rpc.Received;
import io.lockkeeper.server.rpc.SessionClient;
import io.lockkeeper.server.rpc.wire.SessionBatches;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.Collections;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Several messages of a session in one. */
class SessionBatchesTest {

  @AutoClose private final SessionClient session = new SessionClient();
  private final InProcess server = session.server;
  private final Received<SessionRequest, SessionResponse> client = session.received;
  private final StreamObserver<SessionRequest> requests = session.requests;

  @Test
  void eachRequestOfABatchIsAnsweredInTheirOrder() {
    // Given
    Attached attached = session.open();
    // When
    requests.onNext(batch(keepAlive(7), acquiring("req-1"), acquiring("req-2"), keepAlive(8)));
    // Then
    var first = server.coordinator.keepAlives.next();
    first.answer().complete(new Answer.LeaseRenewed(1, 1));
    assertThat(client.next().getKeptAlive().getNonce()).isEqualTo(7);
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-1");
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-2");
    attached.listener().onNotice("req-2", 1, 1, ViewSamples.granted());
    assertThat(client.next().getEvent().getRequestId()).isEqualTo("req-2");
    server.coordinator.keepAlives.next().answer().complete(new Answer.LeaseRenewed(1, 1));
    assertThat(client.next().getKeptAlive().getNonce()).isEqualTo(8);
  }

  @Test
  void requestOfABatchThatIsRefusedDoesNotHurtTheOthers() {
    // Given
    Attached attached = session.open();
    // When
    requests.onNext(batch(acquiring(""), opening(), acquiring("req-1")));
    // Then
    assertThat(client.next().getRefused().getField()).isEqualTo("acquire.request_id");
    assertThat(client.next().getRefused().getField()).isEqualTo("open");
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-1");
  }

  static Stream<Arguments> batchesThatNoClientMaySend() {
    SessionRequest[] tooMany =
        Collections.nCopies(SessionBatches.MAX_REQUESTS + 1, keepAlive(1))
            .toArray(SessionRequest[]::new);
    return Stream.of(
        Arguments.of(batch(), "batch.requests"),
        Arguments.of(batch(tooMany), "batch.requests"),
        Arguments.of(batch(keepAlive(1), batch(keepAlive(2))), "batch.requests[1]"));
  }

  @ParameterizedTest
  @MethodSource("batchesThatNoClientMaySend")
  void malformedBatchIsRefusedAsAWholeAndTheStreamGoesOn(SessionRequest malformed, String field) {
    // Given
    session.open();
    // When
    requests.onNext(malformed);
    requests.onNext(keepAlive(9));
    // Then
    Refused refused = client.next().getRefused();
    assertThat(refused.getCode()).isEqualTo(Code.INVALID_ARGUMENT.value());
    assertThat(refused.getField()).isEqualTo(field);
    server.coordinator.keepAlives.next().answer().complete(new Answer.LeaseRenewed(1, 1));
    assertThat(client.next().getKeptAlive().getNonce()).isEqualTo(9);
    assertThat(server.coordinator.keepAlives.isEmpty()).isTrue();
  }

  /** Opens a session that reads one message, and tells it of three things meanwhile. */
  private Received<SessionRequest, SessionResponse> slowReader(SessionRequest open) {
    Received<SessionRequest, SessionResponse> slow = Received.nothing();
    server.locks().session(slow).onNext(open);
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    for (int i = 1; i <= 3; i++) {
      attached.listener().onNotice("req-" + i, 1, 1, ViewSamples.queued());
    }
    slow.read(1);
    return slow;
  }

  @Test
  void responsesThatWaitTogetherAreOneMessageForWhoAskedForBatches() {
    // Given
    Received<SessionRequest, SessionResponse> slow = slowReader(resumingWithBatches());
    assertThat(slow.next().getOpened().getBatches()).isTrue();
    // When
    slow.read(1);
    // Then
    assertThat(slow.next().getBatch().getResponsesList())
        .extracting(response -> response.getEvent().getRequestId())
        .containsExactly("req-1", "req-2", "req-3");
  }

  @Test
  void responsesAreNeverPutTogetherForWhoDidNotAsk() {
    // Given
    Received<SessionRequest, SessionResponse> slow = slowReader(resuming());
    assertThat(slow.next().getOpened().getBatches()).isFalse();
    // When
    slow.read(3);
    // Then
    for (int i = 1; i <= 3; i++) {
      assertThat(slow.next().getEvent().getRequestId()).isEqualTo("req-" + i);
    }
  }

  @Test
  void requestsOfABatchCountOneByOneInTheWindowOfTheUnanswered() {
    // Given: four may be unanswered
    Attached attached = session.open();
    // When
    requests.onNext(batch(keepAlive(1), keepAlive(2), keepAlive(3), keepAlive(4)));
    requests.onNext(acquiring("req-1"));
    var first = server.coordinator.keepAlives.next();
    boolean readTooEarly = attached.acquires().poll().isPresent();
    first.answer().complete(new Answer.LeaseRenewed(1, 1));
    // Then
    assertThat(attached.acquires().next().requestId()).isEqualTo("req-1");
    assertThat(readTooEarly).isFalse();
  }
}
