package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of whatever is thrown while a baton is at work. */
class BatonTest {

  private final List<String> log = new ArrayList<>();
  private Runnable onTurn = () -> {};
  private Runnable relief = () -> {};
  private final Baton baton =
      new Baton(
          new Baton.Runner() {
            @Override
            public void run(Runnable task) {
              task.run();
            }

            @Override
            public void onTurn() {
              onTurn.run();
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

  BatonTest() {
    baton.goOn();
  }

  private static void raise(String message) {
    throw new AssertionError(message);
  }

  @Test
  void whatATaskThrowsIsToldAndWhatComesLaterIsRun() {
    // When
    baton.pass(() -> raise("task"));
    baton.pass(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("task", "later");
    assertThat(baton.backlog()).isZero();
  }

  @Test
  void whatTheEndOfATurnThrowsIsToldAndWhatComesLaterIsRun() {
    // Given
    onTurn = () -> raise("turn");
    // When
    baton.pass(
        () -> {
          Turn.atEnd(() -> raise("put off"));
          Turn.atEnd(() -> log.add("put off, too"));
        });
    onTurn = () -> {};
    baton.pass(() -> log.add("later"));
    // Then
    assertThat(log).containsExactly("turn", "put off", "put off, too", "later");
    assertThat(baton.backlog()).isZero();
  }

  @Test
  void reliefThatCannotBeStartedIsTold() {
    // Given
    relief = () -> raise("unable to create native thread");
    // When: there is more to do than a borrowed thread does
    baton.pass(
        () -> {
          for (int i = 0; i < Baton.STINT; i++) {
            baton.pass(() -> {});
          }
        });
    // Then
    assertThat(log).containsExactly("unable to create native thread");
  }
}
