package io.lockkeeper.server.core;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.Grants;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.request.Leases;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.LossReport;
import io.lockkeeper.server.core.session.SessionPoolListener;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.Lease;
import io.lockkeeper.server.core.takeover.DeposedLeases;
import java.util.List;
import java.util.function.Consumer;

/** What the state of a lock session means for the leases and acquisitions on it. */
final class SessionChanges implements SessionPoolListener {

  private final AcquisitionLifecycle lifecycle;
  private final Grants grants;
  private final Leases leases;
  private final DeposedLeases deposedLeases;
  private final LossReport losses;

  SessionChanges(
      AcquisitionLifecycle lifecycle,
      Grants grants,
      Leases leases,
      DeposedLeases deposedLeases,
      LossReport losses) {
    this.losses = losses;
    this.deposedLeases = deposedLeases;
    this.lifecycle = lifecycle;
    this.grants = grants;
    this.leases = leases;
  }

  @Override
  public void onSuspended(LockSession session) {
    forEachAcquisition(
        session,
        acquisition -> {
          if (acquisition.state().isHeld()) {
            long validFor = lifecycle.vouchedForNanos(acquisition);
            lifecycle.tell(acquisition, new Notice.Jeopardy(validFor));
          }
        });
  }

  @Override
  public void onProved(LockSession session, boolean wasSuspended) {
    forEachAcquisition(
        session,
        acquisition -> {
          if (acquisition.state().isHeld() && wasSuspended) {
            long validFor = lifecycle.validForNanos(acquisition);
            lifecycle.tell(acquisition, new Notice.Safe(validFor));
          }
        });
    forEachAcquisition(session, grants::decide);
    losses.report(session.key());
  }

  @Override
  public void onBoundLost(LockSession session) {
    forEachLease(session, leases::loseBound);
    losses.report(session.key());
  }

  @Override
  public void onForsaken(LockSession session) {
    forEachLease(session, deposedLeases::onForsaken);
  }

  @Override
  public void onDeposed(LockSession session) {
    forEachLease(session, deposedLeases::forget);
    losses.report(session.key());
  }

  @Override
  public void onGone(LockSession session) {
    forEachLease(session, leases::loseSession);
    losses.report(session.key());
  }

  private void forEachLease(LockSession session, Consumer<Lease> action) {
    leases.on(session).forEach(action);
  }

  private void forEachAcquisition(LockSession session, Consumer<Acquisition> action) {
    forEachLease(session, lease -> List.copyOf(lease.acquisitions().values()).forEach(action));
  }
}
