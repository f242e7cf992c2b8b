package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.Turn;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class StoreThreadTest {

  private final List<String> log = new CopyOnWriteArrayList<>();
  private final StoreThread thread = new StoreThread();

  StoreThreadTest() {
    thread.onFailure(cause -> log.add("failed: " + cause.getMessage()));
  }

  @AfterEach
  void halt() {
    thread.halt();
  }

  static List<Throwable> exceptionsAndErrors() {
    return List.of(new IllegalStateException("a bug"), new AssertionError("a bug"));
  }

  private static void raise(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) thrown;
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void nothingRunsAfterATaskThatThrew(Throwable thrown) {
    // When: all tasks but the first are handed in by it, and so make the next turn together
    thread.execute(
        () -> {
          thread.execute(() -> Turn.atEnd(() -> log.add("put off")));
          thread.execute(() -> raise(thrown));
          thread.execute(() -> log.add("next"));
        });
    thread.execute(() -> log.add("later"));
    thread.execute(() -> raise(thrown));
    // Then
    assertThat(log).containsExactly("failed: a bug");
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void whatIsPutOffToTheEndOfATurnFailsAsATaskDoes(Throwable thrown) {
    // When
    thread.execute(() -> Turn.atEnd(() -> raise(thrown)));
    thread.execute(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("failed: a bug");
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void whatThrowsOnAnotherThreadOfTheStoreFailsAsATaskDoes(Throwable thrown) {
    // When
    thread.attempt(() -> raise(thrown));
    thread.execute(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("failed: a bug");
  }
}
