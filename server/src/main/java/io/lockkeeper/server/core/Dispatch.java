package io.lockkeeper.server.core;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.acquire.Barriers;
import io.lockkeeper.server.core.acquire.Claims;
import io.lockkeeper.server.core.acquire.Contention;
import io.lockkeeper.server.core.acquire.Deletions;
import io.lockkeeper.server.core.acquire.EntryReads;
import io.lockkeeper.server.core.acquire.EntryUpdates;
import io.lockkeeper.server.core.acquire.ForcedReleases;
import io.lockkeeper.server.core.acquire.Freezes;
import io.lockkeeper.server.core.acquire.Freezing;
import io.lockkeeper.server.core.acquire.Grants;
import io.lockkeeper.server.core.acquire.LockDelays;
import io.lockkeeper.server.core.acquire.Looks;
import io.lockkeeper.server.core.acquire.Occurrences;
import io.lockkeeper.server.core.acquire.PermitLimits;
import io.lockkeeper.server.core.acquire.PlacementPlanner;
import io.lockkeeper.server.core.acquire.Publications;
import io.lockkeeper.server.core.acquire.Reentrancy;
import io.lockkeeper.server.core.acquire.Suppressions;
import io.lockkeeper.server.core.acquire.Views;
import io.lockkeeper.server.core.acquire.WaitTimeouts;
import io.lockkeeper.server.core.acquire.WatchedLocks;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.ClientRequest;
import io.lockkeeper.server.core.api.EventHandler;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.deadlock.Deadlocks;
import io.lockkeeper.server.core.request.AcquireHandler;
import io.lockkeeper.server.core.request.Descriptions;
import io.lockkeeper.server.core.request.Leases;
import io.lockkeeper.server.core.request.Releases;
import io.lockkeeper.server.core.request.Revocation;
import io.lockkeeper.server.core.request.TokenChecks;
import io.lockkeeper.server.core.session.LossReport;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.FollowUp;
import io.lockkeeper.server.core.takeover.Adoptions;
import io.lockkeeper.server.core.takeover.DeposedLeases;
import io.lockkeeper.server.core.takeover.MirrorRebuilds;
import java.util.Optional;

/** Brings each event to the part that it is for. */
final class Dispatch implements EventHandler {

  private final CoreState core;
  private final SessionPool pool;
  private final Barriers barriers;
  private final StoreAnswers answers;
  private final Adoptions adoptions;
  private final Grants grants;
  private final MirrorRebuilds rebuilds;
  private final Leases leases;
  private final AcquireHandler acquireHandler;
  private final Releases releases;
  private final EntryReads reads;
  private final Looks looks;
  private final EntryUpdates updates;
  private final Descriptions descriptions;
  private final Revocation revocation;
  private final PermitLimits limits;
  private final Freezing freezing;
  private final TokenChecks tokenChecks;
  private final AdoptionGrace grace;
  private final Deadlocks deadlocks;
  private final WatchedLocks watched;

  /** Puts the parts together. */
  Dispatch(CoreState core, SessionPool pool, Views views, LockDelays delays, Freezes freezes) {
    this.core = core;
    this.pool = pool;
    updates = new EntryUpdates(core);
    barriers = new Barriers(core);
    reads = new EntryReads(core);
    watched = new WatchedLocks(core);
    Publications publications = new Publications(core, watched, views, reads);
    looks = new Looks(core, views, reads, publications);
    Reentrancy reentrancy = new Reentrancy(core);
    LossReport losses = new LossReport(core, pool);
    AcquisitionLifecycle lifecycle =
        new AcquisitionLifecycle(
            core,
            pool,
            views,
            reentrancy,
            new Deletions(core, pool),
            barriers,
            new Occurrences(core, losses),
            new Contention(core, freezes));
    limits = new PermitLimits(core, barriers, lifecycle);
    ForcedReleases forcedReleases = new ForcedReleases(core);
    Suppressions suppressions = new Suppressions(core, barriers);
    grants =
        new Grants(
            core,
            pool,
            publications,
            lifecycle,
            delays,
            freezes,
            limits,
            forcedReleases,
            reentrancy,
            suppressions);
    rebuilds =
        new MirrorRebuilds(
            core, barriers, lifecycle, grants, delays, limits, suppressions, publications);
    freezing = new Freezing(core, freezes, barriers, grants, views, lifecycle);
    WaitTimeouts timeouts = new WaitTimeouts(core, views, lifecycle);
    grace = new AdoptionGrace(core, timeouts, grants, limits);
    leases = new Leases(core, pool, lifecycle, grace);
    DeposedLeases deposedLeases = new DeposedLeases(core, pool, leases);
    PlacementPlanner planner = new PlacementPlanner(core, reentrancy);
    Claims claims = new Claims(core, pool, views, lifecycle, grants);
    acquireHandler =
        new AcquireHandler(core, pool, lifecycle, leases, planner, grants, timeouts, grace, claims);
    adoptions =
        new Adoptions(core, pool, leases, grace, rebuilds, grants, deposedLeases, acquireHandler);
    releases = new Releases(core, views, lifecycle, leases, timeouts, grace, pool);
    descriptions =
        new Descriptions(core, views, lifecycle, leases, updates, reads, publications, grace);
    revocation =
        new Revocation(core, views, lifecycle, reads, updates, forcedReleases, grace, delays);
    answers = new StoreAnswers(core, lifecycle, rebuilds, grants, reads, revocation, descriptions);
    tokenChecks = new TokenChecks(core, barriers, reads);
    deadlocks = new Deadlocks(core, lifecycle, reads);
    pool.listen(new SessionChanges(lifecycle, grants, leases, deposedLeases, losses));
  }

  /** Does what follows from the event that was taken, until nothing does. */
  void followUp() {
    Optional<FollowUp> next = core.nextFollowUp();
    while (next.isPresent()) {
      followUp(next.get());
      next = core.nextFollowUp();
    }
  }

  private void followUp(FollowUp next) {
    if (next instanceof FollowUp.Releasing releasing) {
      grants.onReleasing(releasing.acquisition());
    } else if (next instanceof FollowUp.Waiting waiting) {
      grace.onWaiting(waiting.acquisition());
      deadlocks.onWaiting(waiting.acquisition());
      descriptions.onWaiting(waiting.acquisition());
    } else if (next instanceof FollowUp.Gone gone) {
      leases.forgetIfOver(gone.lease());
    }
  }

  Leases leases() {
    return leases;
  }

  @Override
  public void onEntryAppeared(StoreEvent.EntryAppeared event) {
    grants.onAppeared(event);
  }

  @Override
  public void onEntryVanished(StoreEvent.EntryVanished event) {
    grants.onVanished(event.lock(), event.entry().text(), event.zxid());
  }

  @Override
  public void onEntryChanged(StoreEvent.EntryChanged event) {
    reads.onChanged(event);
  }

  @Override
  public void onMarkerAppeared(StoreEvent.MarkerAppeared event) {
    grants.onMarkerAppeared(event);
  }

  @Override
  public void onMarkerVanished(StoreEvent.MarkerVanished event) {
    grants.onMarkerVanished(event.lock(), event.marker(), event.zxid());
  }

  @Override
  public void onMirrorStale(StoreEvent.MirrorStale event) {
    rebuilds.onStale();
  }

  @Override
  public void onRebuildStarted(StoreEvent.RebuildStarted event) {
    rebuilds.onStarted(event);
  }

  @Override
  public void onQueueListed(StoreEvent.QueueListed event) {
    rebuilds.onListed(event);
  }

  @Override
  public void onMirrorCurrent(StoreEvent.MirrorCurrent event) {
    rebuilds.onCurrent();
    freezing.onCurrent();
  }

  @Override
  public void onEntriesCreated(StoreEvent.EntriesCreated event) {
    answers.onCreated(event);
  }

  @Override
  public void onEntriesRefused(StoreEvent.EntriesRefused event) {
    answers.onRefused(event);
  }

  @Override
  public void onEntriesDeleted(StoreEvent.EntriesDeleted event) {
    answers.onDeleted(event);
  }

  @Override
  public void onDeletionDelayed(StoreEvent.DeletionDelayed event) {
    answers.onDeletionDelayed(event);
  }

  @Override
  public void onLeaseRecorded(StoreEvent.LeaseRecorded event) {
    leases.onRecorded(event);
  }

  @Override
  public void onLeaseRefused(StoreEvent.LeaseRefused event) {
    leases.onRefused(event);
  }

  @Override
  public void onLeaseErased(StoreEvent.LeaseErased event) {
    leases.onErased(event);
  }

  @Override
  public void onSessionOpened(SessionEvent.SessionOpened event) {
    pool.onOpened(event);
  }

  @Override
  public void onSessionProved(SessionEvent.SessionProved event) {
    pool.onProved(event);
  }

  @Override
  public void onSessionSuspended(SessionEvent.SessionSuspended event) {
    pool.onSuspended(event);
  }

  @Override
  public void onSessionEnded(SessionEvent.SessionEnded event) {
    pool.onEnded(event);
  }

  @Override
  public void onOrphanFound(SessionEvent.OrphanFound event) {
    pool.onOrphan(event);
  }

  @Override
  public void onSessionAdopted(SessionEvent.SessionAdopted event) {
    adoptions.onAdopted(event);
  }

  @Override
  public void onBarrierPassed(StoreEvent.BarrierPassed event) {
    barriers.onAnswer(event.barrier(), true);
  }

  @Override
  public void onBarrierFailed(StoreEvent.BarrierFailed event) {
    barriers.onAnswer(event.barrier(), false);
  }

  @Override
  public void onDetailsRead(StoreEvent.DetailsRead event) {
    answers.onRead(event);
  }

  @Override
  public void onEntryUpdateAnswered(UpdateEvent.EntryUpdateAnswered event) {
    updates.onAnswered(event);
  }

  @Override
  public void onLimitAnswered(UpdateEvent.LimitAnswered event) {
    limits.onAnswered(event);
  }

  @Override
  public void onClientRequest(ClientRequest event) {
    core.caller = event.by();
    try {
      event.request().applyTo(this);
    } finally {
      core.caller = Caller.ANYBODY;
    }
  }

  @Override
  public void onFreezeAppeared(FreezeEvent.Appeared event) {
    freezing.onAppeared(event);
  }

  @Override
  public void onFreezeRead(FreezeEvent.Read event) {
    freezing.onRead(event);
  }

  @Override
  public void onFreezeVanished(FreezeEvent.Vanished event) {
    freezing.onVanished(event);
  }

  @Override
  public void onFreezesListed(FreezeEvent.Listed event) {
    freezing.onListed(event);
  }

  @Override
  public void onFreezeAnswered(FreezeEvent.Answered event) {
    freezing.onAnswered(event);
  }

  @Override
  public void onOpenLease(ClientEvent.OpenLease event) {
    leases.open(event);
  }

  @Override
  public void onAttachLease(ClientEvent.AttachLease event) {
    leases.attach(event);
  }

  @Override
  public void onKeepAlive(ClientEvent.KeepAlive event) {
    leases.keepAlive(event);
  }

  @Override
  public void onCloseLease(ClientEvent.CloseLease event) {
    leases.close(event);
  }

  @Override
  public void onAcquire(ClientEvent.Acquire event) {
    acquireHandler.acquire(event);
  }

  @Override
  public void onRelease(ClientEvent.Release event) {
    releases.release(event);
  }

  @Override
  public void onQueryPosition(ClientEvent.QueryPosition event) {
    releases.queryPosition(event);
  }

  @Override
  public void onShowLocks(ClientEvent.ShowLocks event) {
    looks.show(event);
  }

  @Override
  public void onWatchLocks(ClientEvent.WatchLocks event) {
    looks.watch(event);
  }

  @Override
  public void onWatchBegan(ClientEvent.WatchBegan event) {
    watched.onBegan(event);
  }

  @Override
  public void onWatchEnded(ClientEvent.WatchEnded event) {
    watched.onEnded(event);
  }

  @Override
  public void onCheckToken(ClientEvent.CheckToken event) {
    tokenChecks.check(event);
  }

  @Override
  public void onRequestRelease(ClientEvent.RequestRelease event) {
    revocation.requestRelease(event);
  }

  @Override
  public void onForceRelease(ClientEvent.ForceRelease event) {
    revocation.forceRelease(event);
  }

  @Override
  public void onAnswerRelease(ClientEvent.AnswerRelease event) {
    descriptions.answerRelease(event);
  }

  @Override
  public void onUpdateMetadata(ClientEvent.UpdateMetadata event) {
    descriptions.updateMetadata(event);
  }

  @Override
  public void onConfigureLock(ClientEvent.ConfigureLock event) {
    limits.configure(event);
  }

  @Override
  public void onFreeze(ClientEvent.Freeze event) {
    freezing.freeze(event);
  }

  @Override
  public void onUnfreeze(ClientEvent.Unfreeze event) {
    freezing.unfreeze(event);
  }

  @Override
  public void onForceCloseLease(ClientEvent.ForceCloseLease event) {
    leases.closeByForce(event);
  }

  @Override
  public void onStreamClosed(ClientEvent.StreamClosed event) {
    releases.streamClosed(event);
  }

  @Override
  public void onTick(TimeEvent.Tick event) {
    core.timers.runDue(core.now);
  }

  @Override
  public void onPeersServing(LifecycleEvent.PeersServing event) {
    core.servingPeers = event.others();
  }

  @Override
  public void onDraining(LifecycleEvent.Draining event) {
    leases.drain();
  }

  @Override
  public void onLeaving(LifecycleEvent.Leaving event) {
    adoptions.onLeaving();
  }

  @Override
  public void onStalled(TimeEvent.Stalled event) {
    leases.onStalled(event.nanos());
    pool.onStalled();
  }
}
