package io.lockkeeper.server.core.takeover;

import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.request.Leases;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Lease;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Forgets what another coordinator serves from now on. Nothing of it has ended, so nobody is told
 * an ending: clients come back elsewhere, and find what they had.
 */
public final class DeposedLeases {

  private static final String MOVED = "another coordinator serves the lease now";

  private final CoreState core;
  private final SessionPool pool;
  private final Leases leases;
  private final Map<LeaseId, List<Acquisition>> grantedAhead = new HashMap<>();

  public DeposedLeases(CoreState core, SessionPool pool, Leases leases) {
    this.core = core;
    this.pool = pool;
    this.leases = leases;
  }

  /**
   * Forgets a lease whose session is another coordinator's now. What was granted here ahead of its
   * creation no entry tells: should the session come back, its client may still rely on it.
   */
  public void forget(Lease lease) {
    if (lease.isStream()) {
      // Nobody can serve it elsewhere: its stream is here, or it is what is left of one. A release
      // may not be done, and is repeated elsewhere.
      List.copyOf(lease.acquisitions().values()).forEach(this::failRelease);
      leases.loseSession(lease);
      return;
    }
    List<Acquisition> ahead =
        lease.acquisitions().values().stream()
            .filter(acquisition -> acquisition.state().isLive() && acquisition.wasGranted())
            .filter(acquisition -> !acquisition.isAnswered())
            .toList();
    if (!ahead.isEmpty()) {
      grantedAhead.put(lease.id(), ahead);
      core.timers.at(lease.deadlineNanos(), () -> grantedAhead.remove(lease.id(), ahead));
    }
    lease.expiryTimer().ifPresent(core.timers::cancel);
    lease.takeOpener().ifPresent(this::failMoved);
    lease.closers().forEach(this::failMoved);
    sendAway(lease, new Failure(Failure.Reason.MOVED, MOVED));
    List.copyOf(lease.acquisitions().values()).forEach(this::forget);
    lease.acquisitions().clear();
    lease.holds().clear();
    core.remove(lease);
    core.endedLeases.remove(lease.id());
    pool.find(lease.session())
        .ifPresent(
            session -> {
              session.remove(lease, core.pathSizes.leaseBytes());
              pool.closeEmpty(session);
            });
  }

  /** Returns what was granted to a lease here ahead of its creation, and forgets it. */
  List<Acquisition> takeGrantedAhead(LeaseId lease) {
    return Optional.ofNullable(grantedAhead.remove(lease)).orElse(List.of());
  }

  /**
   * The lease's session has been without contact for long: a peer that has contact may have adopted
   * it, and its client may find it there, or come back. Where no peer has, it is served best here.
   */
  public void onForsaken(Lease lease) {
    if (core.servingPeers > 0) {
      sendAway(
          lease,
          new Failure(
              Failure.Reason.UNAVAILABLE,
              "the coordinator has lost contact with ZooKeeper: another may serve the lease"));
    }
  }

  /** Ends the stream of a lease; the lease lives on. */
  private void sendAway(Lease lease, Failure why) {
    lease.stream()
        .ifPresent(
            stream -> {
              core.streams.remove(stream);
              core.emit(new Effect.SendAway(stream, why));
            });
    lease.attach(Optional.empty());
  }

  private void failRelease(Acquisition acquisition) {
    acquisition.releaseCalls().forEach(this::failMoved);
    acquisition.releaseCalls().clear();
    if (acquisition.state().state() == AcquisitionState.State.RELEASING) {
      acquisition.lease().acquisitions().remove(acquisition.command().requestId());
      forget(acquisition);
    }
  }

  private void forget(Acquisition acquisition) {
    acquisition.become(AcquisitionState.ended());
    acquisition.timers().stopAll(core.timers);
    acquisition.releaseCalls().forEach(this::failMoved);
    acquisition.stream()
        .ifPresent(
            stream -> {
              core.streams.remove(stream);
              Failure moved = new Failure(Failure.Reason.MOVED, MOVED + ": repeat the request");
              core.emit(new Effect.Refuse(stream, acquisition.command().requestId(), moved));
            });
    core.remove(acquisition);
    acquisition.holds().forEach(hold -> hold.entryIn(core.mirror).ifPresent(Entry::unbind));
  }

  private void failMoved(CallId call) {
    core.fail(call, Failure.Reason.MOVED, MOVED);
  }
}
