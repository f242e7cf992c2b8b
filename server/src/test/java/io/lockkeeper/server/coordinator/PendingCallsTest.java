package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Failure;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class PendingCallsTest {

  private final PendingCalls calls = new PendingCalls();
  private final CompletableFuture<Answer> answer = new CompletableFuture<>();

  @Test
  void callThatNobodyAnswersFailsAfterItsBoundAndALateAnswerIsIgnored() {
    // Given
    CallId id = calls.add(answer, 0);
    // When
    calls.expire(9_999_999_999L);
    boolean early = answer.isDone();
    calls.expire(10_000_000_000L);
    calls.answer(id, new Answer.LeaseClosed(false));
    // Then
    assertThat(early).isFalse();
    assertThat(answer)
        .failsWithin(java.time.Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("send it again");
  }

  @Test
  void failureBecomesAnException() {
    // Given
    CallId id = calls.add(answer, 0);
    // When
    calls.answer(id, new Answer.Failed(new Failure(Failure.Reason.QUEUE_FULL, "full")));
    // Then
    assertThat(answer.handle((value, error) -> ((RefusedException) error).failure().reason()))
        .isCompletedWithValue(Failure.Reason.QUEUE_FULL);
  }
}
