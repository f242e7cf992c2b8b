package io.lockkeeper.server.core;

import java.util.List;
import java.util.function.Consumer;

/** What the state of a lock session means for the leases and acquisitions on it. */
final class SessionChanges implements PoolListener {

  private final Acquisitions acquisitions;
  private final Grants grants;
  private final Leases leases;
  private final LeaseEndings endings;
  private final Handovers handovers;
  private final Losses losses;

  SessionChanges(
      Acquisitions acquisitions,
      Grants grants,
      Leases leases,
      LeaseEndings endings,
      Handovers handovers,
      Losses losses) {
    this.losses = losses;
    this.handovers = handovers;
    this.acquisitions = acquisitions;
    this.grants = grants;
    this.leases = leases;
    this.endings = endings;
  }

  @Override
  public void onSuspended(LockSession session) {
    forEachTicket(
        session,
        ticket -> {
          if (ticket.acquisition().isHeld()) {
            long validFor = acquisitions.validForNanos(ticket);
            acquisitions.tell(ticket, new Notice.Jeopardy(validFor));
          }
        });
  }

  @Override
  public void onProved(LockSession session, boolean wasSuspended) {
    forEachTicket(
        session,
        ticket -> {
          if (ticket.acquisition().isHeld() && wasSuspended) {
            long validFor = acquisitions.validForNanos(ticket);
            acquisitions.tell(ticket, new Notice.Safe(validFor));
          }
        });
    forEachTicket(session, grants::settle);
    losses.report(session.key());
  }

  @Override
  public void onBoundLost(LockSession session) {
    forEachLease(session, endings::loseBound);
    losses.report(session.key());
  }

  @Override
  public void onForsaken(LockSession session) {
    forEachLease(session, handovers::onForsaken);
  }

  @Override
  public void onDeposed(LockSession session) {
    forEachLease(session, handovers::forget);
    losses.report(session.key());
  }

  @Override
  public void onGone(LockSession session) {
    forEachLease(session, endings::loseSession);
    losses.report(session.key());
  }

  private void forEachLease(LockSession session, Consumer<Lease> action) {
    leases.on(session).forEach(action);
  }

  private void forEachTicket(LockSession session, Consumer<Ticket> action) {
    forEachLease(session, lease -> List.copyOf(lease.tickets().values()).forEach(action));
  }
}
