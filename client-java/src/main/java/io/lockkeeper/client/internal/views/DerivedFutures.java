package io.lockkeeper.client.internal.views;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Futures derived from futures of handles; cancelling one withdraws the request. */
public final class DerivedFutures {

  private DerivedFutures() {}

  /**
   * Returns a future of what {@code toValue} makes of the handle; if that fails, the handle is
   * released.
   */
  public static <T> CompletableFuture<T> map(
      CompletableFuture<LockHandle> source, Function<LockHandle, T> toValue) {
    CompletableFuture<T> derived = new CompletableFuture<>();
    return derive(source, derived, toValue, derived::completeExceptionally);
  }

  /** Returns a future of the handle; empty if the wait limit ran out. */
  public static CompletableFuture<Optional<LockHandle>> optional(
      CompletableFuture<LockHandle> source) {
    CompletableFuture<Optional<LockHandle>> derived = new CompletableFuture<>();
    return derive(
        source,
        derived,
        Optional::of,
        failure -> {
          if (isTimeout(failure)) {
            derived.complete(Optional.empty());
          } else {
            derived.completeExceptionally(failure);
          }
        });
  }

  private static boolean isTimeout(Throwable failure) {
    return failure instanceof NotAcquiredException e && e.reason() == NotAcquiredReason.TIMED_OUT;
  }

  private static <T> CompletableFuture<T> derive(
      CompletableFuture<LockHandle> source,
      CompletableFuture<T> derived,
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
                taken = derived.complete(toValue.apply(handle));
              } catch (RuntimeException | Error e) {
                derived.completeExceptionally(e);
              }
              if (!taken) {
                release(handle); // The caller never gets it.
              }
            });
    CompletableFuture<T> unusedToo =
        derived.whenComplete(
            (value, failure) -> {
              if (!source.isDone()) {
                source.cancel(true);
              }
            });
    return derived;
  }

  private static void release(LockHandle handle) {
    CompletableFuture<Void> unused = handle.releaseAsync();
  }
}
