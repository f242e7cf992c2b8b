package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.serial.AwaitedTask;
import io.lockkeeper.server.coordinator.serial.EventLoop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** Waits until what must be deleted is gone. */
final class CleanupWait {

  private static final long LOOK_MILLIS = 20;
  private static final long ANSWER_MILLIS = 1_000;

  private final EventLoop loop;
  private final BooleanSupplier settled;

  /**
   * Prepares.
   *
   * @param settled whether nothing is owed; asked on the loop
   */
  CleanupWait(EventLoop loop, BooleanSupplier settled) {
    this.loop = loop;
    this.settled = settled;
  }

  /**
   * Returns when all is gone, or after {@code grace}, or at once if the loop has failed.
   *
   * @throws IllegalStateException if the loop does not answer
   */
  void await(Duration grace) throws InterruptedException {
    CompletableFuture<Void> done = new CompletableFuture<>();
    look(done, System.nanoTime() + grace.toNanos());
    try {
      done.get(grace.toMillis() + ANSWER_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("the event loop does not answer", e);
    }
  }

  private void look(CompletableFuture<Void> done, long deadlineNanos) {
    loop.post(
        new AwaitedTask(
            () -> {
              if (settled.getAsBoolean() || System.nanoTime() - deadlineNanos >= 0) {
                done.complete(null);
              } else {
                CompletableFuture.delayedExecutor(LOOK_MILLIS, TimeUnit.MILLISECONDS)
                    .execute(() -> look(done, deadlineNanos));
              }
            },
            over -> done.complete(null)));
  }
}
