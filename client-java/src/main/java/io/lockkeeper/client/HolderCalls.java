package io.lockkeeper.client;

import io.grpc.Status;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionRequest;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * What the holder asks of the server about one acquisition. One at a time is on its way, since the
 * answers name the acquisition only, and it is sent again until it has an answer. On the loop only.
 */
final class HolderCalls {

  private static final int CAPACITY = 100;
  private static final int RETRY_STEP = 5;

  private final ClientContext context;
  private final SessionLink session;
  private final ArrayDeque<Call> calls = new ArrayDeque<>(1); // Mostly empty.
  private Optional<Loop.Timer> retry = Optional.empty();
  private boolean paused;

  private record Call(SessionRequest request, CompletableFuture<Void> answer, Loop.Timer limit) {
    void fail(Throwable why) {
      limit.cancel();
      answer.completeExceptionally(why);
    }
  }

  HolderCalls(ClientContext context, SessionLink session) {
    this.context = context;
    this.session = session;
  }

  /** Takes a call; {@code answer} completes on the loop, within the request timeout. */
  void add(SessionRequest request, CompletableFuture<Void> answer) {
    if (calls.size() >= CAPACITY) {
      answer.completeExceptionally(
          new LockkeeperException(
              "more than " + CAPACITY + " calls of this hold wait: send fewer"));
      return;
    }
    long limitNanos = context.settings().requestTimeout().toNanos();
    Loop.Timer limit =
        context
            .loop()
            .schedule(limitNanos, () -> answer.completeExceptionally(session.unavailable()));
    calls.add(new Call(request, answer, limit));
    if (calls.size() == 1) {
      send();
    }
  }

  /** A new stream is open, whose server has not said yet that the locks are held. */
  void pause() {
    paused = true;
    retry.ifPresent(Loop.Timer::cancel);
    retry = Optional.empty();
  }

  /** The server says that the locks are held: what has had no answer is sent to it. */
  void resume() {
    paused = false;
    skipGivenUp();
    send();
  }

  private void send() {
    retry.ifPresent(Loop.Timer::cancel);
    retry = Optional.empty();
    if (!calls.isEmpty() && !paused) {
      session.send(calls.peek().request());
    }
  }

  /** The call that is on its way was answered. */
  void onAnswered() {
    Call done = calls.poll();
    if (done != null) {
      done.limit().cancel();
      done.answer().complete(null);
      skipGivenUp();
      send();
    }
  }

  /** The call that is on its way was refused. */
  void onRefused(Status.Code code, Refused refused) {
    if (calls.isEmpty()) {
      return;
    }
    if (Protos.isPassing(code)) {
      retry.ifPresent(Loop.Timer::cancel);
      long pause = context.backoff().nanosAfter(RETRY_STEP);
      retry = Optional.of(context.loop().schedule(pause, this::resume));
    } else {
      calls.pop().fail(new RequestRefusedException(code, refused.getMessage(), refused.getField()));
      skipGivenUp();
      send();
    }
  }

  /** Those whose time ran out while they waited need not be sent. */
  private void skipGivenUp() {
    while (!calls.isEmpty() && calls.peek().answer().isDone()) {
      calls.pop();
    }
  }

  /** The acquisition is not held any more. */
  void end(Supplier<Throwable> why) {
    retry.ifPresent(Loop.Timer::cancel);
    for (Call call = calls.poll(); call != null; call = calls.poll()) {
      call.fail(why.get());
    }
  }
}
