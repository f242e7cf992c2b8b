package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Questions about how things are: nothing is changed by them. See {@link Coordinator}. */
final class Queries {

  /** How often is looked: a lock that changes hands all the time has new holders each time. */
  private static final int ATTEMPTS = 5;

  private final CoreRunner runner;
  private final Inbox inbox;

  Queries(CoreRunner runner, Inbox inbox) {
    this.runner = runner;
    this.inbox = inbox;
  }

  CompletableFuture<LockView> getLock(LockName lock, int queueLimit) {
    return named(
            () -> List.of(runner.kernel().lock(lock, queueLimit, runner.now())),
            queueLimit,
            ATTEMPTS)
        .thenApply(locks -> locks.get(0));
  }

  CompletableFuture<List<LockView>> listLocks(String prefix, Optional<LockName> after, int limit) {
    return named(() -> runner.kernel().locks(prefix, after, limit, runner.now()), 0, ATTEMPTS);
  }

  /**
   * Looks, has those read of whom too little is known, and looks again: there may be other holders
   * by then. A holder is never shown without its token.
   */
  private CompletableFuture<List<LockView>> named(
      Supplier<List<LockView>> view, int queueLimit, int attempts) {
    return look(view)
        .thenCompose(
            seen ->
                inbox.ask(
                    call ->
                        new ClientEvent.ReadQueue(
                            call, seen.stream().map(LockView::lock).toList(), queueLimit)))
        .thenCompose(read -> look(view))
        .thenCompose(
            locks -> {
              if (locks.stream().allMatch(LockView::isNamed)) {
                return CompletableFuture.completedFuture(locks);
              }
              return attempts > 1
                  ? named(view, queueLimit, attempts - 1)
                  : CompletableFuture.failedFuture(
                      new RefusedException(
                          new Failure(
                              Failure.Reason.UNAVAILABLE,
                              "a holder's entry could not be read; try again")));
            });
  }

  private CompletableFuture<List<LockView>> look(Supplier<List<LockView>> view) {
    CompletableFuture<List<LockView>> result = new CompletableFuture<>();
    inbox.queryMirror(result, () -> result.complete(view.get()));
    return result;
  }

  CompletableFuture<LeaseView> getLease(LeaseId lease, int limit) {
    CompletableFuture<LeaseView> result = new CompletableFuture<>();
    inbox.query(
        result,
        () ->
            runner
                .kernel()
                .lease(lease, limit, runner.now())
                .ifPresentOrElse(
                    result::complete,
                    () ->
                        result.completeExceptionally(
                            new RefusedException(
                                new Failure(
                                    Failure.Reason.UNKNOWN_LEASE,
                                    "no lease with the id " + lease.tag() + "… is served here")))));
    return result;
  }

  CompletableFuture<List<LeaseView>> listLeases(String afterTag, int limit) {
    CompletableFuture<List<LeaseView>> result = new CompletableFuture<>();
    inbox.query(
        result, () -> result.complete(runner.kernel().leases(afterTag, limit, runner.now())));
    return result;
  }

  CompletableFuture<LeaseLocation> locate(LeaseId lease) {
    CompletableFuture<LeaseLocation> result = new CompletableFuture<>();
    inbox.query(
        result,
        () ->
            runner
                .store()
                .locate(
                    lease,
                    found ->
                        found.ifPresentOrElse(
                            result::complete,
                            () ->
                                result.completeExceptionally(
                                    new RefusedException(
                                        new Failure(
                                            Failure.Reason.UNAVAILABLE,
                                            "ZooKeeper does not say who serves the lease"))))));
    return result;
  }
}
