package io.lockkeeper.server.core;

import java.util.Optional;

/** Brings each event to the part that it is for. */
final class Dispatch implements EventHandler {

  private final World world;
  private final Sessions sessions;
  private final Barriers barriers;
  private final StoreAnswers answers;
  private final Adoptions adoptions;
  private final Grants grants;
  private final Rebuilds rebuilds;
  private final Leases leases;
  private final Resumes resumes;
  private final Requests requests;
  private final Releases releases;
  private final Readings readings;
  private final Amendments amendments;
  private final Descriptions descriptions;
  private final GivingWay givingWay;
  private final Limits limits;
  private final TokenChecks tokenChecks;
  private final Dormancy dormancy;
  private final Deadlocks deadlocks;
  private final LeaseEndings endings;

  /** Puts the parts together. */
  Dispatch(World world, Sessions sessions, Views views, Delays delays) {
    this.world = world;
    this.sessions = sessions;
    amendments = new Amendments(world);
    barriers = new Barriers(world);
    readings = new Readings(world);
    Holds holds = new Holds(world);
    Deletions deletions = new Deletions(world, sessions);
    Losses losses = new Losses(world, sessions);
    Acquisitions acquisitions =
        new Acquisitions(world, sessions, views, holds, deletions, barriers, losses);
    limits = new Limits(world, barriers, acquisitions);
    Changes changes = new Changes(world, views);
    Forcings forcings = new Forcings(world);
    Suppressions suppressions = new Suppressions(world, barriers);
    grants =
        new Grants(
            world, sessions, changes, acquisitions, delays, limits, forcings, holds, suppressions);
    rebuilds = new Rebuilds(world, barriers, acquisitions, grants, delays, limits, suppressions);
    Waits waits = new Waits(world, views, acquisitions);
    dormancy = new Dormancy(world, waits, grants, limits);
    endings = new LeaseEndings(world, sessions, acquisitions, dormancy);
    leases = new Leases(world, sessions, acquisitions, endings);
    resumes = new Resumes(world, sessions, acquisitions, leases, dormancy);
    Handovers handovers = new Handovers(world, sessions, endings);
    Plans plans = new Plans(world, holds);
    requests = new Requests(world, sessions, acquisitions, leases, plans, grants, waits, dormancy);
    adoptions =
        new Adoptions(
            world, sessions, leases, endings, dormancy, rebuilds, grants, handovers, requests);
    releases = new Releases(world, views, acquisitions, leases, endings, waits, dormancy, sessions);
    descriptions =
        new Descriptions(world, views, acquisitions, leases, changes, amendments, dormancy);
    givingWay = new GivingWay(world, views, acquisitions, readings, amendments, forcings, dormancy);
    answers =
        new StoreAnswers(world, acquisitions, rebuilds, grants, readings, givingWay, descriptions);
    tokenChecks = new TokenChecks(world, barriers, readings);
    deadlocks = new Deadlocks(world, acquisitions, readings);
    sessions.listen(new SessionChanges(acquisitions, grants, leases, endings, handovers, losses));
  }

  /** Does what follows from the event that was taken, until nothing does. */
  void settle() {
    Optional<FollowUp> next = world.nextFollowUp();
    while (next.isPresent()) {
      settle(next.get());
      next = world.nextFollowUp();
    }
  }

  private void settle(FollowUp next) {
    if (next instanceof FollowUp.Releasing releasing) {
      grants.onReleasing(releasing.ticket());
    } else if (next instanceof FollowUp.Waiting waiting) {
      dormancy.onWaiting(waiting.ticket());
      deadlocks.onWaiting(waiting.ticket());
    } else if (next instanceof FollowUp.Gone gone) {
      endings.settle(gone.lease());
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
    readings.onChanged(event);
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
  public void onLeaseRecorded(StoreEvent.LeaseRecorded event) {
    leases.onRecorded(event.lease());
  }

  @Override
  public void onLeaseRefused(StoreEvent.LeaseRefused event) {
    leases.onRefused(event);
  }

  @Override
  public void onLeaseErased(StoreEvent.LeaseErased event) {
    leases.onErased(event.lease());
  }

  @Override
  public void onSessionOpened(SessionEvent.SessionOpened event) {
    sessions.onOpened(event);
  }

  @Override
  public void onSessionProved(SessionEvent.SessionProved event) {
    sessions.onProved(event);
  }

  @Override
  public void onSessionSuspended(SessionEvent.SessionSuspended event) {
    sessions.onSuspended(event);
  }

  @Override
  public void onSessionEnded(SessionEvent.SessionEnded event) {
    sessions.onEnded(event);
  }

  @Override
  public void onOrphanFound(SessionEvent.OrphanFound event) {
    sessions.onOrphan(event);
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
  public void onAmendmentAnswered(ErrandEvent.AmendmentAnswered event) {
    amendments.onAnswered(event);
  }

  @Override
  public void onLimitAnswered(ErrandEvent.LimitAnswered event) {
    limits.onAnswered(event);
  }

  @Override
  public void onOpenLease(ClientEvent.OpenLease event) {
    leases.open(event);
  }

  @Override
  public void onAttachLease(ClientEvent.AttachLease event) {
    resumes.attach(event);
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
    requests.acquire(event);
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
  public void onCheckToken(ClientEvent.CheckToken event) {
    tokenChecks.check(event);
  }

  @Override
  public void onRequestRelease(ClientEvent.RequestRelease event) {
    givingWay.requestRelease(event);
  }

  @Override
  public void onForceRelease(ClientEvent.ForceRelease event) {
    givingWay.forceRelease(event);
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
  public void onStreamClosed(ClientEvent.StreamClosed event) {
    releases.streamClosed(event);
  }

  @Override
  public void onTick(TimeEvent.Tick event) {
    world.timers.runDue(world.now);
  }

  @Override
  public void onPeersServing(LifeEvent.PeersServing event) {
    world.servingPeers = event.others();
  }

  @Override
  public void onDraining(LifeEvent.Draining event) {
    leases.drain();
  }

  @Override
  public void onStalled(TimeEvent.Stalled event) {
    leases.onStalled(event.nanos());
    sessions.onStalled();
  }
}
