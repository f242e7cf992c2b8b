package io.lockkeeper.server.rpc.forward;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

/**
 * One request's search for whoever serves its lease. Asked again after each attempt that did not
 * help, it pauses and looks anew, until its patience has run out. Everything happens in the tasks
 * of the request.
 */
final class LeaseOwnerSearch {

  private final LeaseId lease;
  private final LeaseOwnerSearches shared;
  private final Executor serial;
  private final RoutedCall<?, ?> call;
  private final long startNanos = System.nanoTime();
  private boolean looked;
  private boolean paused;
  private boolean hasPlace;
  private boolean closed;
  private Optional<Future<?>> pause = Optional.empty();

  /**
   * Prepares a search.
   *
   * @param serial runs one thing after the other
   */
  LeaseOwnerSearch(
      LeaseId lease, LeaseOwnerSearches shared, Executor serial, RoutedCall<?, ?> call) {
    this.lease = lease;
    this.shared = shared;
    this.serial = serial;
    this.call = call;
  }

  /** Asks who serves the lease: at once for the first time, then after a pause. */
  void ask() {
    if (looked) {
      afterPause(this::look);
    } else {
      look();
    }
  }

  private void afterPause(Runnable next) {
    if (System.nanoTime() - startNanos > shared.patienceNanos()) {
      giveUp("nobody serves the lease at the moment; send the request again");
    } else if (!hasPlace && !shared.tryEnter()) {
      giveUp("too many requests wait for leases that nobody serves at the moment");
    } else {
      hasPlace = true;
      paused = true;
      pause = Optional.of(shared.later(() -> serial.execute(() -> unlessClosed(next))));
    }
  }

  private void leavePlace() {
    if (hasPlace) {
      hasPlace = false;
      shared.leave();
    }
  }

  private void unlessClosed(Runnable next) {
    if (!closed) {
      next.run();
    }
  }

  private void giveUp(String why) {
    call.onGivenUp(Statuses.unreachable(why));
  }

  private void look() {
    looked = true;
    Answers.deliver(
        shared.locate(lease),
        found -> serial.execute(() -> unlessClosed(() -> onFound(found))),
        refusal -> serial.execute(() -> unlessClosed(() -> call.onGivenUp(refusal))));
  }

  private void onFound(LeaseLocation found) {
    if (found instanceof LeaseLocation.Nowhere) {
      afterPause(this::look);
    } else if (found instanceof LeaseLocation.Here && !paused) {
      afterPause(this::tryHere);
    } else if (found instanceof LeaseLocation.Here) {
      tryHere();
    } else {
      leavePlace();
      onFoundElsewhere(found);
    }
  }

  private void tryHere() {
    leavePlace();
    call.onHere();
  }

  private void onFoundElsewhere(LeaseLocation found) {
    if (found instanceof LeaseLocation.At at) {
      call.onPeer(at.peer());
    } else {
      call.onUnknown();
    }
  }

  /** Ends the search. Idempotent. */
  void close() {
    closed = true;
    pause.ifPresent(waiting -> waiting.cancel(false));
    leavePlace();
  }
}
