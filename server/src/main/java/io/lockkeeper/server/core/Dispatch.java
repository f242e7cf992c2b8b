package io.lockkeeper.server.core;

import java.util.Optional;

/** Brings each event to the part that it is for. */
final class Dispatch implements EventHandler {

  private final World world;
  private final Sessions sessions;
  private final Barriers barriers;
  private final Acquisitions acquisitions;
  private final Grants grants;
  private final Leases leases;
  private final Requests requests;
  private final Releases releases;
  private final TokenChecks tokenChecks;

  Dispatch(
      World world,
      Sessions sessions,
      Barriers barriers,
      Acquisitions acquisitions,
      Grants grants,
      Leases leases,
      Requests requests,
      Releases releases,
      TokenChecks tokenChecks) {
    this.world = world;
    this.sessions = sessions;
    this.barriers = barriers;
    this.acquisitions = acquisitions;
    this.grants = grants;
    this.leases = leases;
    this.requests = requests;
    this.releases = releases;
    this.tokenChecks = tokenChecks;
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
  public void onMirrorStale(StoreEvent.MirrorStale event) {
    grants.onStale();
  }

  @Override
  public void onRebuildStarted(StoreEvent.RebuildStarted event) {
    grants.onRebuildStarted(event.locks());
  }

  @Override
  public void onQueueListed(StoreEvent.QueueListed event) {
    grants.onListed(event);
  }

  @Override
  public void onMirrorCurrent(StoreEvent.MirrorCurrent event) {
    grants.onCurrent();
  }

  @Override
  public void onEntriesCreated(StoreEvent.EntriesCreated event) {
    Optional.ofNullable(world.tickets.get(event.id()))
        .ifPresent(
            ticket -> {
              ticket.created(event.entries());
              acquisitions.apply(ticket, new AcquisitionEvent.Created());
              grants.settle(ticket);
            });
  }

  @Override
  public void onEntriesRefused(StoreEvent.EntriesRefused event) {
    Optional.ofNullable(world.tickets.get(event.id()))
        .ifPresent(t -> acquisitions.apply(t, new AcquisitionEvent.Refused(event.message())));
  }

  @Override
  public void onEntriesDeleted(StoreEvent.EntriesDeleted event) {
    Optional.ofNullable(world.tickets.get(event.id()))
        .ifPresent(
            ticket -> {
              acquisitions.apply(ticket, new AcquisitionEvent.Deleted());
              // The answer to our own deletion may come before the mirror's event; it is as
              // certain.
              ticket.entries().forEach(e -> grants.onVanished(e.lock(), e.name().text(), 0));
            });
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
  public void onSessionOpened(StoreEvent.SessionOpened event) {
    sessions.onOpened(event);
  }

  @Override
  public void onSessionProved(StoreEvent.SessionProved event) {
    sessions.onProved(event);
  }

  @Override
  public void onSessionSuspended(StoreEvent.SessionSuspended event) {
    sessions.onSuspended(event);
  }

  @Override
  public void onSessionEnded(StoreEvent.SessionEnded event) {
    sessions.onEnded(event);
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
    tokenChecks.onDetailsRead(event);
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
  public void onStreamClosed(ClientEvent.StreamClosed event) {
    releases.streamClosed(event);
  }

  @Override
  public void onTick(TimeEvent.Tick event) {
    world.timers.runDue(world.now);
  }

  @Override
  public void onStalled(TimeEvent.Stalled event) {
    leases.onStalled(event.nanos());
    sessions.onStalled();
  }
}
