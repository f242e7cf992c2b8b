package io.lockkeeper.server.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.serial.Batch;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class StoreExecutorTest {

  private final List<String> log = new CopyOnWriteArrayList<>();

  @AutoClose("halt")
  private final StoreExecutor executor = new StoreExecutor();

  StoreExecutorTest() {
    executor.onFailure(cause -> log.add("failed: " + cause.getMessage()));
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
    executor.execute(
        () -> {
          executor.execute(() -> Batch.atEnd(() -> log.add("put off")));
          executor.execute(() -> raise(thrown));
          executor.execute(() -> log.add("next"));
        });
    executor.execute(() -> log.add("later"));
    executor.execute(() -> raise(thrown));
    // Then
    assertThat(log).containsExactly("failed: a bug");
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void whatIsPutOffToTheEndOfATurnFailsAsATaskDoes(Throwable thrown) {
    // When
    executor.execute(() -> Batch.atEnd(() -> raise(thrown)));
    executor.execute(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("failed: a bug");
  }

  @ParameterizedTest
  @MethodSource("exceptionsAndErrors")
  void whatThrowsOnAnotherThreadOfTheStoreFailsAsATaskDoes(Throwable thrown) {
    // When
    executor.attempt(() -> raise(thrown));
    executor.execute(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("failed: a bug");
  }
}
