package io.lockkeeper.client.internal.acquisition;

import io.grpc.Status;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionRequest;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The calls of one acquisition's holder to the server: metadata updates and answers to release
 * requests. They are sent one at a time, since an answer names only the acquisition, and sent again
 * until answered. On the client's loop only.
 */
final class HolderCalls {

  private static final int CAPACITY = 100;

  private final String locks;
  private final ClientContext context;
  private final SessionLink session;
  private final ArrayDeque<Call> calls = new ArrayDeque<>(1); // Mostly empty.
  private final ResettableTimer retry;
  private boolean paused;

  private record Call(SessionRequest request, CompletableFuture<Void> answer, Loop.Timer limit) {
    void fail(Throwable why) {
      limit.cancel();
      answer.completeExceptionally(why);
    }
  }

  HolderCalls(String locks, ClientContext context, SessionLink session) {
    this.locks = locks;
    this.context = context;
    this.session = session;
    this.retry = new ResettableTimer(context.loop());
  }

  /** Adds a call; {@code answer} completes on the loop, within the request timeout. */
  void add(SessionRequest request, CompletableFuture<Void> answer) {
    if (calls.size() >= CAPACITY) {
      answer.completeExceptionally(
          new LockkeeperException(
              LockNames.quoted(locks)
                  + ": more than "
                  + CAPACITY
                  + " calls of this hold wait: send fewer"));
      return;
    }
    long limitNanos = context.settings().requestTimeout().toNanos();
    Loop.Timer limit =
        context
            .loop()
            .schedule(limitNanos, () -> answer.completeExceptionally(session.unavailable(locks)));
    calls.add(new Call(request, answer, limit));
    if (calls.size() == 1) {
      send();
    }
  }

  /** A new stream is open, whose server has not said that the locks are held. */
  void pause() {
    paused = true;
    retry.cancel();
  }

  /** The server says that the locks are held: the call without an answer is sent to it. */
  void resume() {
    paused = false;
    skipGivenUp();
    send();
  }

  private void send() {
    retry.cancel();
    if (!calls.isEmpty() && !paused) {
      session.send(calls.peek().request());
    }
  }

  /** The call that was sent is answered. */
  void onAnswered() {
    Call done = calls.poll();
    if (done != null) {
      done.limit().cancel();
      done.answer().complete(null);
      skipGivenUp();
      send();
    }
  }

  /** The call that was sent is refused. */
  void onRefused(Refused refused) {
    if (calls.isEmpty()) {
      return;
    }
    Status.Code code = Status.fromCodeValue(refused.getCode()).getCode();
    if (refused.hasRetryAfter()
        || Protos.isPassing(code, Protos.toErrorReason(refused.getReason()))) {
      retry.set(context.backoff().retryNanos(Protos.toRetryNanos(refused)), this::resume);
    } else {
      calls.pop().fail(Protos.toRefusal(locks, refused));
      skipGivenUp();
      send();
    }
  }

  /** Calls that timed out while they waited need not be sent. */
  private void skipGivenUp() {
    while (!calls.isEmpty() && calls.peek().answer().isDone()) {
      calls.pop();
    }
  }

  /** The acquisition is not held any more. */
  void end(Supplier<Throwable> why) {
    retry.cancel();
    for (Call call = calls.poll(); call != null; call = calls.poll()) {
      call.fail(why.get());
    }
  }
}
