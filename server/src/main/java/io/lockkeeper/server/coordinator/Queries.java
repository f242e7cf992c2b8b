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

/** Questions about how things are: nothing is changed by them. See {@link Coordinator}. */
final class Queries {

  private final CoreRunner runner;
  private final Inbox inbox;

  Queries(CoreRunner runner, Inbox inbox) {
    this.runner = runner;
    this.inbox = inbox;
  }

  CompletableFuture<LockView> getLock(LockName lock, int queueLimit) {
    return inbox
        .ask(call -> new ClientEvent.ReadQueue(call, lock, queueLimit))
        .thenCompose(read -> view(lock, queueLimit));
  }

  private CompletableFuture<LockView> view(LockName lock, int queueLimit) {
    CompletableFuture<LockView> result = new CompletableFuture<>();
    inbox.queryMirror(
        result, () -> result.complete(runner.kernel().lock(lock, queueLimit, runner.now())));
    return result;
  }

  CompletableFuture<List<LockView>> listLocks(String prefix, Optional<LockName> after, int limit) {
    CompletableFuture<List<LockView>> result = new CompletableFuture<>();
    inbox.queryMirror(
        result, () -> result.complete(runner.kernel().locks(prefix, after, limit, runner.now())));
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
