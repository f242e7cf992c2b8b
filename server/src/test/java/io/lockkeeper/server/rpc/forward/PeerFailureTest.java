package io.lockkeeper.server.rpc.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What of a peer's words reaches the client. */
class PeerFailureTest {

  @Test
  void decisionOfACoordinatorIsPassedOnAndWhatGrpcSaysIsNot() {
    // Given
    StatusRuntimeException decision =
        Statuses.of(new Failure(Failure.Reason.QUEUE_FULL, "full")).toException();
    Metadata details = Objects.requireNonNull(decision.getTrailers());
    Metadata none = new Metadata();
    // Then
    assertThat(PeerFailure.isPassedOn(decision.getStatus(), details)).isTrue();
    assertThat(PeerFailure.isPassedOn(Status.RESOURCE_EXHAUSTED, none)).isFalse();
    assertThat(PeerFailure.isPassedOn(Status.UNIMPLEMENTED, none)).isFalse();
  }

  @Test
  void deadlineOfTheClientIsItsOwn() {
    assertThat(PeerFailure.isPassedOn(Status.DEADLINE_EXCEEDED, new Metadata())).isTrue();
  }
}
