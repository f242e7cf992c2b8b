package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Failure;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The calls that wait for an answer, each with a bound. On the event loop only. */
final class PendingCalls {

  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(Coordinator.ANSWER_SECONDS);

  /** In the order of their deadlines, since all wait equally long. */
  private final Map<CallId, Call> calls = new LinkedHashMap<>();

  private long numbers;

  private record Call(CompletableFuture<Answer> answer, long deadlineNanos) {}

  CallId add(CompletableFuture<Answer> answer, long nowNanos) {
    CallId id = new CallId(++numbers);
    calls.put(id, new Call(answer, nowNanos + ANSWER_NANOS));
    return id;
  }

  void answer(CallId id, Answer answer) {
    Call call = calls.remove(id);
    if (call == null) {
      return;
    }
    if (answer instanceof Answer.Failed failed) {
      call.answer.completeExceptionally(new RefusedException(failed.failure()));
    } else {
      call.answer.complete(answer);
    }
  }

  /** Gives up those that have waited too long. */
  void expire(long nowNanos) {
    List<Call> late = new ArrayList<>(0);
    Iterator<Call> oldestFirst = calls.values().iterator();
    while (oldestFirst.hasNext()) {
      Call call = oldestFirst.next();
      if (call.deadlineNanos - nowNanos > 0) {
        break;
      }
      oldestFirst.remove();
      late.add(call);
    }
    late.forEach(call -> call.answer.completeExceptionally(tooLate()));
  }

  /** Gives up all. */
  void refuseAll(RefusedException why) {
    List<Call> waiting = List.copyOf(calls.values());
    calls.clear();
    waiting.forEach(call -> call.answer.completeExceptionally(why));
  }

  private static RefusedException tooLate() {
    return new RefusedException(
        new Failure(
            Failure.Reason.UNAVAILABLE,
            "no answer from ZooKeeper within "
                + Coordinator.ANSWER_SECONDS
                + " s: it is not certain what became of the request; send it again"));
  }
}
