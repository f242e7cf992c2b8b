package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Ends leases, with all that they hold, and forgets them when nothing is left. */
final class LeaseEndings {

  private final World world;
  private final Sessions sessions;
  private final Acquisitions acquisitions;

  private final Dormancy dormancy;

  LeaseEndings(World world, Sessions sessions, Acquisitions acquisitions, Dormancy dormancy) {
    this.dormancy = dormancy;
    this.world = world;
    this.sessions = sessions;
    this.acquisitions = acquisitions;
  }

  /** Ends a lease with all that it holds. */
  void end(Lease lease, LeaseEnd why) {
    if (!lease.isEnding()) {
      // What held is lost, and what waited is withdrawn: so each must know which it is.
      dormancy.attendAll(lease);
    }
    if (beginEnd(lease, why)) {
      tickets(lease).forEach(ticket -> acquisitions.leaseEnded(ticket, why));
      tellEnd(lease, why);
      erase(lease);
    }
    settle(lease);
  }

  private void erase(Lease lease) {
    if (lease.isRecorded()) {
      sessions.erase(lease);
    }
  }

  /**
   * Ends a lease whose session cannot be proved alive. What it owns is deleted as soon as that is
   * possible and still ours to do.
   */
  void loseBound(Lease lease) {
    if (beginEnd(lease, LeaseEnd.SESSION_LOST)) {
      tickets(lease).forEach(t -> acquisitions.apply(t, new AcquisitionEvent.BoundLost()));
      tellEnd(lease, LeaseEnd.SESSION_LOST);
      erase(lease);
    }
    settle(lease);
  }

  /** Ends a lease whose session is gone. */
  void loseSession(Lease lease) {
    boolean first = beginEnd(lease, LeaseEnd.SESSION_LOST);
    lease.erased();
    tickets(lease).forEach(t -> acquisitions.apply(t, new AcquisitionEvent.SessionGone()));
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
    world.endedLeases.put(lease.id(), why);
    lease.expiryTimer().ifPresent(world.timers::cancel);
    lease
        .takeOpener()
        .ifPresent(
            call -> world.fail(call, Failure.Kind.UNAVAILABLE, "the lease could not be recorded"));
    return true;
  }

  private void tellEnd(Lease lease, LeaseEnd why) {
    lease.stream()
        .ifPresent(
            stream -> {
              world.streams.remove(stream);
              world.emit(new Effect.TellLeaseEnd(stream, why));
            });
    lease.attach(Optional.empty());
  }

  private static List<Ticket> tickets(Lease lease) {
    return new ArrayList<>(lease.tickets().values());
  }

  /** Forgets the lease if nothing of it is left. */
  void settle(Lease lease) {
    if (lease.isStream() && lease.tickets().isEmpty()) {
      beginEnd(lease, LeaseEnd.CLOSED);
    }
    if (!lease.isEnding() || !lease.tickets().isEmpty() || lease.isRecorded()) {
      return;
    }
    if (world.leases.remove(lease.id(), lease)) {
      world.leasesByTag.remove(lease.id().high(), lease);
      lease.closers().forEach(call -> world.reply(call, new Answer.LeaseClosed(false)));
      sessions.find(lease.session()).ifPresent(session -> leave(lease, session));
    }
  }

  private void leave(Lease lease, LockSession session) {
    session.leases().remove(lease.id());
    if (!lease.isStream()) {
      session.addPathBytes(-world.pathSizes.leaseBytes());
    }
    sessions.closeEmpty(session);
  }
}
