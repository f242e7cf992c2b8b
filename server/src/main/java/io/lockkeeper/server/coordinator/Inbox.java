package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.Failure;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Brings requests from any thread to the event loop, and refuses them when too many wait there. */
final class Inbox {

  private final CoreRunner runner;
  private final int maxQueuedRequests;

  Inbox(CoreRunner runner, int maxQueuedRequests) {
    this.runner = runner;
    this.maxQueuedRequests = maxQueuedRequests;
  }

  /** Asks the core something that it answers. */
  CompletableFuture<Answer> ask(Caller caller, Function<CallId, ClientEvent> request) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    if (isOverloaded()) {
      answer.completeExceptionally(overloaded());
    } else {
      runner.post(
          () -> runner.handle(new ClientRequest(caller, request.apply(runner.expect(answer)))),
          answer::completeExceptionally);
    }
    return answer;
  }

  /** Tells the core something that has no answer. */
  void submit(Caller caller, Supplier<ClientEvent> request, Consumer<RefusedException> refuse) {
    if (isOverloaded()) {
      refuse.accept(overloaded());
    } else {
      runner.post(() -> runner.handle(new ClientRequest(caller, request.get())), refuse);
    }
  }

  /** Looks at the core's state on the loop; see {@link #attempt}. */
  <T> void query(CompletableFuture<T> result, Runnable query) {
    if (isOverloaded()) {
      result.completeExceptionally(overloaded());
    } else {
      runner.post(() -> attempt(result, query), result::completeExceptionally);
    }
  }

  /**
   * Runs a query whose exception is an answer to whoever asked: it changes nothing of the core, so
   * nothing is in doubt, and whoever may look must not be able to end the process by looking.
   */
  private static <T> void attempt(CompletableFuture<T> result, Runnable query) {
    try {
      query.run();
    } catch (RuntimeException e) {
      result.completeExceptionally(e);
    }
  }

  private boolean isOverloaded() {
    return runner.backlog() >= maxQueuedRequests;
  }

  private RefusedException overloaded() {
    return new RefusedException(
        new Failure(
            Failure.Reason.TOO_MANY,
            "the coordinator has its limit of " + maxQueuedRequests + " requests waiting"));
  }
}
