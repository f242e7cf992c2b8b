package io.lockkeeper.server.core.lease;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Ends leases, with all that they hold, and forgets them when nothing is left. */
public final class LeaseEndings {

  private final CoreState core;
  private final SessionPool pool;
  private final AcquisitionLifecycle lifecycle;

  private final AdoptionGrace grace;

  public LeaseEndings(
      CoreState core, SessionPool pool, AcquisitionLifecycle lifecycle, AdoptionGrace grace) {
    this.grace = grace;
    this.core = core;
    this.pool = pool;
    this.lifecycle = lifecycle;
  }

  /** Ends a lease with all that it holds. */
  public void end(Lease lease, LeaseEnd why) {
    if (!lease.isEnding()) {
      // What held is lost, and what waited is withdrawn: so each must know which it is.
      grace.attendAll(lease);
    }
    if (beginEnd(lease, why)) {
      acquisitionsOf(lease).forEach(acquisition -> lifecycle.leaseEnded(acquisition, why));
      tellEnd(lease, why);
      erase(lease);
    }
    settle(lease);
  }

  private void erase(Lease lease) {
    if (lease.isRecorded()) {
      pool.erase(lease);
    }
  }

  /**
   * Ends a lease whose session cannot be proved alive. What it owns is deleted as soon as that is
   * possible and still ours to do.
   */
  public void loseBound(Lease lease) {
    if (beginEnd(lease, LeaseEnd.SESSION_LOST)) {
      acquisitionsOf(lease).forEach(t -> lifecycle.apply(t, new AcquisitionEvent.BoundLost()));
      tellEnd(lease, LeaseEnd.SESSION_LOST);
      erase(lease);
    }
    settle(lease);
  }

  /** Ends a lease whose session is gone. */
  public void loseSession(Lease lease) {
    boolean first = beginEnd(lease, LeaseEnd.SESSION_LOST);
    lease.erased();
    acquisitionsOf(lease).forEach(t -> lifecycle.apply(t, new AcquisitionEvent.SessionGone()));
    if (first) {
      tellEnd(lease, LeaseEnd.SESSION_LOST);
    }
    settle(lease);
  }

  private boolean beginEnd(Lease lease, LeaseEnd why) {
    if (lease.isEnding()) {
      return false;
    }
    lease.ending(why);
    core.endedLeases.put(lease.id(), why);
    lease.expiryTimer().ifPresent(core.timers::cancel);
    lease
        .takeOpener()
        .ifPresent(
            call -> core.fail(call, Failure.Kind.UNAVAILABLE, "the lease could not be recorded"));
    return true;
  }

  private void tellEnd(Lease lease, LeaseEnd why) {
    lease.stream()
        .ifPresent(
            stream -> {
              core.streams.remove(stream);
              core.emit(new Effect.TellLeaseEnd(stream, why));
            });
    lease.attach(Optional.empty());
  }

  private static List<Acquisition> acquisitionsOf(Lease lease) {
    return new ArrayList<>(lease.acquisitions().values());
  }

  /** Forgets the lease if nothing of it is left. */
  public void settle(Lease lease) {
    if (lease.isStream() && lease.acquisitions().isEmpty()) {
      beginEnd(lease, LeaseEnd.CLOSED);
    }
    if (!lease.isEnding() || !lease.acquisitions().isEmpty() || lease.isRecorded()) {
      return;
    }
    if (core.leases.remove(lease.id(), lease)) {
      core.leasesByTag.remove(lease.id().high(), lease);
      lease.closers().forEach(call -> core.reply(call, new Answer.LeaseClosed(false)));
      pool.find(lease.session()).ifPresent(session -> leave(lease, session));
    }
  }

  private void leave(Lease lease, LockSession session) {
    session.leases().remove(lease.id());
    if (!lease.isStream()) {
      session.addPathBytes(-core.pathSizes.leaseBytes());
    }
    pool.closeEmpty(session);
  }
}
