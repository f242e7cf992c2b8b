package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.SessionRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tokens that a client says it was granted, in a request that it repeats. */
class HeldTokensTest {

  private static AcquireRequest.Builder repeating(List<Long> tokens) {
    return AcquireRequest.newBuilder()
        .setRequestId("r-1")
        .addLocks(LockRequest.newBuilder().setName("a"))
        .addLocks(LockRequest.newBuilder().setName("b"))
        .addAllHeldTokens(tokens);
  }

  @Test
  void tokensReachTheCoordinatorInTheirOrder() {
    // Given
    try (InProcess server = new InProcess();
        SessionClient session = new SessionClient()) {
      Attached attached = session.open();
      // When
      server.locks().acquire(repeating(List.of(9L, 7L)).build(), Received.all());
      session.requests.onNext(
          SessionRequest.newBuilder().setAcquire(repeating(List.of(9L, 7L))).build());
      // Then
      assertThat(server.coordinator.acquires.next().command().heldTokens()).containsExactly(9L, 7L);
      assertThat(attached.acquires().next().heldTokens()).containsExactly(9L, 7L);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1 2 3, held_tokens, 'as many as locks, 2, are 3'",
    "1 0, held_tokens[1], above zero",
    "-1, held_tokens[0], above zero",
  })
  void tokensThatCannotBeAreRefused(String tokens, String field, String why) throws Exception {
    // Given
    List<Long> sent = List.of(tokens.split(" ")).stream().map(Long::valueOf).toList();
    try (InProcess server = new InProcess()) {
      // When // Then
      Malformed.assertRefused(
          server, s -> s.locksNow().acquire(repeating(sent).build()).next(), field, why);
    }
  }
}
