package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.ClusterView;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Coordinator.LockPage;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockHistory;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.StoreView;
import io.lockkeeper.server.coordinator.api.VisibleLocks;
import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Questions about how things are: nothing is changed by them. See {@link Coordinator}. */
final class Queries {

  private static final Failure NOT_REACHED =
      new Failure(Failure.Reason.UNAVAILABLE, "ZooKeeper has not been reached yet");

  private final CoreRunner runner;
  private final Inbox inbox;
  private final HoldHistory history;

  Queries(CoreRunner runner, Inbox inbox, HoldHistory history) {
    this.history = history;
    this.runner = runner;
    this.inbox = inbox;
  }

  CompletableFuture<LockView> getLock(LockName lock, int queueLimit) {
    return shown(() -> List.of(lock), queueLimit).thenApply(locks -> locks.get(0));
  }

  CompletableFuture<LockHistory> history(LockName lock, int limit) {
    CompletableFuture<LockHistory> result = new CompletableFuture<>();
    inbox.query(result, () -> result.complete(history.of(lock, limit)));
    return result;
  }

  CompletableFuture<LockPage> listLocks(
      String prefix, Optional<LockName> after, int limit, VisibleLocks visible) {
    NamesScan scan = new NamesScan(prefix, limit, visible);
    return shown(() -> scan.of(runner.kernel().names(), after), 0)
        .thenApply(locks -> new LockPage(locks, scan.last));
  }

  /**
   * Finds the names of a page on the loop. It goes from one visible name to the next and skips the
   * hidden names between them. A page ends early after {@link #MAX_SKIPS} skips: its token is then
   * the start of what the caller's policy shows next, and never a hidden name.
   */
  private static final class NamesScan {
    private static final int MAX_SKIPS = 1_000;

    private final String prefix;
    private final int limit;
    private final VisibleLocks visible;
    private Optional<LockName> last = Optional.empty();

    NamesScan(String prefix, int limit, VisibleLocks visible) {
      this.prefix = prefix;
      this.limit = limit;
      this.visible = visible;
    }

    List<LockName> of(NavigableSet<LockName> names, Optional<LockName> after) {
      List<LockName> found = new ArrayList<>();
      int skips = 0;
      Optional<LockName> next =
          after.isPresent() && after.get().value().compareTo(prefix) > 0
              ? Optional.ofNullable(names.higher(after.get()))
              : LockName.firstFrom(prefix).map(names::ceiling);
      while (next.isPresent() && next.get().value().startsWith(prefix)) {
        LockName name = next.get();
        Optional<String> start = visible.next(name.value());
        if (start.isEmpty()) {
          break;
        }
        if (!start.get().equals(name.value())) {
          Optional<LockName> first = LockName.firstFrom(start.get());
          next = first.map(names::ceiling);
          if (++skips >= MAX_SKIPS && !next.equals(first)) {
            last = first;
            break;
          }
        } else if (found.size() < limit) {
          found.add(name);
          next = Optional.ofNullable(names.higher(name));
        } else {
          last = Optional.of(found.get(limit - 1));
          break;
        }
      }
      return found;
    }
  }

  /** Looks at locks, which are named on the loop. */
  private CompletableFuture<List<LockView>> shown(Supplier<List<LockName>> locks, int queueLimit) {
    return inbox
        .ask(Caller.ANYBODY, call -> new ClientEvent.ShowLocks(call, locks.get(), queueLimit))
        .thenApply(answer -> ((Answer.LocksShown) answer).locks());
  }

  CompletableFuture<LeaseView> getLease(Caller by, LeaseId lease, int limit) {
    CompletableFuture<LeaseView> result = new CompletableFuture<>();
    inbox.query(
        result,
        () ->
            runner
                .kernel()
                .lease(by, lease, limit, runner.now())
                .ifPresentOrElse(
                    result::complete,
                    () ->
                        result.completeExceptionally(
                            new RefusedException(runner.kernel().unknownLease(by, lease)))));
    return result;
  }

  CompletableFuture<List<LeaseView>> listLeases(Caller by, String afterTag, int limit) {
    CompletableFuture<List<LeaseView>> result = new CompletableFuture<>();
    inbox.query(
        result, () -> result.complete(runner.kernel().leases(by, afterTag, limit, runner.now())));
    return result;
  }

  CompletableFuture<ClusterView> cluster() {
    CompletableFuture<ClusterView> result = new CompletableFuture<>();
    inbox.query(
        result,
        () -> runner.store().describe(seen -> inbox.query(result, () -> complete(result, seen))));
    return result;
  }

  private void complete(CompletableFuture<ClusterView> result, Optional<StoreView> seen) {
    Kernel kernel = runner.kernel();
    seen.ifPresentOrElse(
        store ->
            result.complete(
                new ClusterView(
                    store,
                    kernel.counts(runner.now()),
                    kernel.core.draining,
                    kernel.frozen(runner.now()))),
        () -> result.completeExceptionally(new RefusedException(NOT_REACHED)));
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
