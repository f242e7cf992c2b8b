package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Answer;
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

  private final CoreRunner runner;
  private final Inbox inbox;

  Queries(CoreRunner runner, Inbox inbox) {
    this.runner = runner;
    this.inbox = inbox;
  }

  CompletableFuture<LockView> getLock(LockName lock, int queueLimit) {
    return shown(() -> List.of(lock), queueLimit).thenApply(locks -> locks.get(0));
  }

  CompletableFuture<List<LockView>> listLocks(String prefix, Optional<LockName> after, int limit) {
    return shown(() -> runner.kernel().names(prefix, after).limit(limit).toList(), 0);
  }

  /** Looks at locks, which are named on the loop. */
  private CompletableFuture<List<LockView>> shown(Supplier<List<LockName>> locks, int queueLimit) {
    return inbox
        .ask(call -> new ClientEvent.ShowLocks(call, locks.get(), queueLimit))
        .thenApply(answer -> ((Answer.LocksShown) answer).locks());
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
