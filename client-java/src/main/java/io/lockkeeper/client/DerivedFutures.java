package io.lockkeeper.client;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Futures derived from futures of handles; cancelling one withdraws the request. */
final class DerivedFutures {

  private DerivedFutures() {}

  /**
   * Returns a future of what {@code toValue} makes of the handle; if that fails, the handle is
   * released.
   */
  static <T> CompletableFuture<T> map(
      CompletableFuture<LockHandle> source, Function<LockHandle, T> toValue) {
    CompletableFuture<T> twin = new CompletableFuture<>();
    return link(source, twin, toValue, twin::completeExceptionally);
  }

  /** Returns a future of the handle; empty if the wait limit ran out. */
  static CompletableFuture<Optional<LockHandle>> optional(CompletableFuture<LockHandle> source) {
    CompletableFuture<Optional<LockHandle>> twin = new CompletableFuture<>();
    return link(
        source,
        twin,
        Optional::of,
        failure -> {
          if (isTimeout(failure)) {
            twin.complete(Optional.empty());
          } else {
            twin.completeExceptionally(failure);
          }
        });
  }

  private static boolean isTimeout(Throwable failure) {
    return failure instanceof NotAcquiredException e && e.reason() == NotAcquiredReason.TIMED_OUT;
  }

  private static <T> CompletableFuture<T> link(
      CompletableFuture<LockHandle> source,
      CompletableFuture<T> twin,
      Function<LockHandle, T> toValue,
      Consumer<Throwable> onFailure) {
    CompletableFuture<LockHandle> unused =
        source.whenComplete(
            (handle, failure) -> {
              if (failure != null) {
                onFailure.accept(failure);
                return;
              }
              boolean taken = false;
              try {
                taken = twin.complete(toValue.apply(handle));
              } catch (RuntimeException | Error e) {
                twin.completeExceptionally(e);
              }
              if (!taken) {
                release(handle); // Nobody else has it.
              }
            });
    CompletableFuture<T> unusedToo =
        twin.whenComplete(
            (value, failure) -> {
              if (!source.isDone()) {
                source.cancel(true);
              }
            });
    return twin;
  }

  private static void release(LockHandle handle) {
    CompletableFuture<Void> unused = handle.releaseAsync();
  }
}
