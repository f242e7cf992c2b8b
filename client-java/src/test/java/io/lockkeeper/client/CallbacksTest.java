package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.loop.Callbacks;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** How the user's code is run. */
class CallbacksTest {

  @Test
  void tasksRunOneAtATimeAndInOrderOnAnExecutorWithManyThreads() {
    // Given
    Callbacks callbacks = Callbacks.on(Optional.of(ForkJoinPool.commonPool()));
    List<Integer> seen = new ArrayList<>();
    CompletableFuture<Void> last = new CompletableFuture<>();
    // When
    for (int i = 0; i < 10_000; i++) {
      int number = i;
      callbacks.run(() -> seen.add(number));
    }
    callbacks.run(() -> last.complete(null));
    // Then
    assertThat(last).succeedsWithin(Duration.ofMinutes(1));
    assertThat(seen).hasSize(10_000).isSorted();
  }

  @Test
  void taskThatThrowsDoesNotStopTheNext() {
    // Given
    Callbacks callbacks = Callbacks.on(Optional.of(Runnable::run));
    List<String> seen = new CopyOnWriteArrayList<>();
    // When
    callbacks.run(
        () -> {
          throw new AssertionError("thrown by a callback");
        });
    callbacks.run(() -> seen.add("next"));
    // Then
    assertThat(seen).containsExactly("next");
  }

  @Test
  void newsThatLaterNewsReplacesAreDroppedWhenTheExecutorIsFarBehind() {
    // Given
    ArrayDeque<Runnable> executor = new ArrayDeque<>();
    Callbacks callbacks = Callbacks.on(Optional.of(executor::add));
    List<String> seen = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      callbacks.runIfRoom(() -> seen.add("news"));
    }
    // When
    callbacks.runIfRoom(() -> seen.add("too much"));
    callbacks.run(() -> seen.add("lost"));
    executor.forEach(Runnable::run);
    // Then
    assertThat(seen).hasSize(10_001).doesNotContain("too much").endsWith("lost");
  }

  @Test
  void futureCompletesThoughTheExecutorRefuses() {
    // Given
    Callbacks callbacks =
        Callbacks.on(
            Optional.of(
                task -> {
                  throw new RejectedExecutionException();
                }));
    // When
    CompletableFuture<String> relayed = callbacks.relay(CompletableFuture.completedFuture("value"));
    // Then
    assertThat(relayed).isCompletedWithValue("value");
  }
}
