package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Has the coordinator leave while its process stays. Takes time and waits for the loop, and so has
 * a thread of its own, one at most: whoever asks meanwhile waits for the same end.
 */
final class Draining {

  private static final long POLL_MILLIS = 20;

  /** The least time in which sessions are dropped once the deletions have settled. */
  private static final Duration HAND_OVER = Duration.ofSeconds(1);

  private final CoreRunner runner;
  private Optional<CompletableFuture<Integer>> underWay = Optional.empty();

  Draining(CoreRunner runner) {
    this.runner = runner;
  }

  /** Begins; completes with the number of leases that are left. */
  synchronized CompletableFuture<Integer> begin(Duration grace) {
    if (underWay.isPresent() && !underWay.get().isDone()) {
      return underWay.get().copy();
    }
    CompletableFuture<Integer> left = new CompletableFuture<>();
    underWay = Optional.of(left);
    Thread thread = new Thread(() -> run(grace, left), "lockkeeper-drain");
    thread.setDaemon(true);
    thread.start();
    return left.copy();
  }

  private void run(Duration grace, CompletableFuture<Integer> left) {
    long deadline = System.nanoTime() + grace.toNanos();
    try {
      runner.leave(grace);
      awaitNoLeases(Math.max(deadline, System.nanoTime() + HAND_OVER.toNanos()), left);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      left.completeExceptionally(leaving());
    } catch (RuntimeException e) {
      left.completeExceptionally(leaving());
    }
  }

  /** The last look is at the state as it is, and not as it was some moments ago. */
  private void awaitNoLeases(long deadlineNanos, CompletableFuture<Integer> left) {
    runner.post(
        () -> {
          int leases = runner.kernel().counts(runner.now()).leases();
          if (leases == 0 || System.nanoTime() - deadlineNanos >= 0) {
            left.complete(leases);
          } else {
            CompletableFuture.delayedExecutor(POLL_MILLIS, TimeUnit.MILLISECONDS)
                .execute(() -> awaitNoLeases(deadlineNanos, left));
          }
        },
        left::completeExceptionally);
  }

  private static RefusedException leaving() {
    return new RefusedException(
        new Failure(Failure.Reason.LEAVING, "the coordinator is about to stop, or cannot go on"));
  }
}
