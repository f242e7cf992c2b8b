package io.lockkeeper.server.rpc.call;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Carries what a future brings to whoever waits for it. */
public final class Answers {

  private Answers() {}

  /**
   * Hands on the answer, or why there is none; a failure of {@code onAnswer} counts as the latter.
   */
  public static <A> void deliver(
      CompletableFuture<A> future, Consumer<A> onAnswer, Consumer<Refusal> onRefused) {
    var unused =
        future
            .thenAccept(onAnswer)
            .whenComplete(
                (delivered, cause) -> {
                  if (cause != null) {
                    onRefused.accept(Statuses.of(cause));
                  }
                });
  }

  /** Answers a unary call. */
  public static <A, R> void unary(
      CompletableFuture<A> future, Function<A, R> translate, StreamObserver<R> call) {
    deliver(
        future,
        answer -> {
          call.onNext(translate.apply(answer));
          call.onCompleted();
        },
        refusal -> call.onError(refusal.toException()));
  }
}
