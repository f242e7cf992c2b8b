package io.lockkeeper.server.coordinator.serial;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of whatever is thrown while an executor is at work. */
class SerialExecutorTest {

  private final List<String> log = new ArrayList<>();
  private Runnable onBatch = () -> {};
  private Runnable relief = () -> {};
  private final SerialExecutor executor =
      new SerialExecutor(
          new SerialExecutor.Runner() {
            @Override
            public void run(Runnable task) {
              task.run();
            }

            @Override
            public void onBatchEnd() {
              onBatch.run();
            }

            @Override
            public void runLast(Runnable action) {
              action.run();
            }

            @Override
            public void onThrown(Throwable thrown) {
              log.add(thrown.getMessage());
            }
          },
          () -> relief.run());

  SerialExecutorTest() {
    executor.goOn();
  }

  private static void raise(String message) {
    throw new AssertionError(message);
  }

  @Test
  void whatATaskThrowsIsToldAndWhatComesLaterIsRun() {
    // When
    executor.pass(() -> raise("task"));
    executor.pass(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("task", "later");
    assertThat(executor.backlog()).isZero();
  }

  @Test
  void whatTheEndOfATurnThrowsIsToldAndWhatComesLaterIsRun() {
    // Given
    onBatch = () -> raise("turn");
    // When
    executor.pass(
        () -> {
          Batch.atEnd(() -> raise("put off"));
          Batch.atEnd(() -> log.add("put off, too"));
        });
    onBatch = () -> {};
    executor.pass(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("turn", "put off", "put off, too", "later");
    assertThat(executor.backlog()).isZero();
  }

  @Test
  void reliefThatCannotBeStartedIsTold() {
    // Given
    relief = () -> raise("unable to create native thread");
    // When: there is more to do than a borrowed thread does
    executor.pass(
        () -> {
          for (int i = 0; i < SerialExecutor.MAX_TASKS_PER_BORROW; i++) {
            executor.pass(() -> {});
          }
        });
    // Then
    assertThat(log).containsExactly("unable to create native thread");
  }
}
