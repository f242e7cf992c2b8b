package io.lockkeeper.server.core.api;

/** Handles events. One method for each kind, named after it. */
public interface EventHandler {
  /** See {@link StoreEvent.EntryAppeared}. */
  void onEntryAppeared(StoreEvent.EntryAppeared event);

  /** See {@link StoreEvent.EntryVanished}. */
  void onEntryVanished(StoreEvent.EntryVanished event);

  /** See {@link StoreEvent.EntryChanged}. */
  void onEntryChanged(StoreEvent.EntryChanged event);

  /** See {@link StoreEvent.MarkerAppeared}. */
  void onMarkerAppeared(StoreEvent.MarkerAppeared event);

  /** See {@link StoreEvent.MarkerVanished}. */
  void onMarkerVanished(StoreEvent.MarkerVanished event);

  /** See {@link StoreEvent.MirrorStale}. */
  void onMirrorStale(StoreEvent.MirrorStale event);

  /** See {@link StoreEvent.RebuildStarted}. */
  void onRebuildStarted(StoreEvent.RebuildStarted event);

  /** See {@link StoreEvent.QueueListed}. */
  void onQueueListed(StoreEvent.QueueListed event);

  /** See {@link StoreEvent.MirrorCurrent}. */
  void onMirrorCurrent(StoreEvent.MirrorCurrent event);

  /** See {@link StoreEvent.EntriesCreated}. */
  void onEntriesCreated(StoreEvent.EntriesCreated event);

  /** See {@link StoreEvent.EntriesRefused}. */
  void onEntriesRefused(StoreEvent.EntriesRefused event);

  /** See {@link StoreEvent.DeletionDelayed}. */
  void onDeletionDelayed(StoreEvent.DeletionDelayed event);

  /** See {@link StoreEvent.EntriesDeleted}. */
  void onEntriesDeleted(StoreEvent.EntriesDeleted event);

  /** See {@link StoreEvent.LeaseRecorded}. */
  void onLeaseRecorded(StoreEvent.LeaseRecorded event);

  /** See {@link StoreEvent.LeaseRefused}. */
  void onLeaseRefused(StoreEvent.LeaseRefused event);

  /** See {@link StoreEvent.LeaseErased}. */
  void onLeaseErased(StoreEvent.LeaseErased event);

  /** See {@link SessionEvent.SessionOpened}. */
  void onSessionOpened(SessionEvent.SessionOpened event);

  /** See {@link SessionEvent.SessionProved}. */
  void onSessionProved(SessionEvent.SessionProved event);

  /** See {@link SessionEvent.SessionSuspended}. */
  void onSessionSuspended(SessionEvent.SessionSuspended event);

  /** See {@link SessionEvent.SessionEnded}. */
  void onSessionEnded(SessionEvent.SessionEnded event);

  /** A lock session has nobody who looks after it. */
  void onOrphanFound(SessionEvent.OrphanFound event);

  /** A lock session was adopted. */
  void onSessionAdopted(SessionEvent.SessionAdopted event);

  /** See {@link StoreEvent.BarrierPassed}. */
  void onBarrierPassed(StoreEvent.BarrierPassed event);

  /** See {@link StoreEvent.BarrierFailed}. */
  void onBarrierFailed(StoreEvent.BarrierFailed event);

  /** See {@link StoreEvent.DetailsRead}. */
  void onDetailsRead(StoreEvent.DetailsRead event);

  /** See {@link UpdateEvent.EntryUpdateAnswered}. */
  void onEntryUpdateAnswered(UpdateEvent.EntryUpdateAnswered event);

  /** See {@link UpdateEvent.LimitAnswered}. */
  void onLimitAnswered(UpdateEvent.LimitAnswered event);

  /** See {@link ClientRequest}. */
  void onClientRequest(ClientRequest event);

  /** See {@link FreezeEvent.Appeared}. */
  void onFreezeAppeared(FreezeEvent.Appeared event);

  /** See {@link FreezeEvent.Read}. */
  void onFreezeRead(FreezeEvent.Read event);

  /** See {@link FreezeEvent.Vanished}. */
  void onFreezeVanished(FreezeEvent.Vanished event);

  /** See {@link FreezeEvent.Listed}. */
  void onFreezesListed(FreezeEvent.Listed event);

  /** See {@link FreezeEvent.Answered}. */
  void onFreezeAnswered(FreezeEvent.Answered event);

  /** See {@link ClientEvent.OpenLease}. */
  void onOpenLease(ClientEvent.OpenLease event);

  /** See {@link ClientEvent.AttachLease}. */
  void onAttachLease(ClientEvent.AttachLease event);

  /** See {@link ClientEvent.KeepAlive}. */
  void onKeepAlive(ClientEvent.KeepAlive event);

  /** See {@link ClientEvent.CloseLease}. */
  void onCloseLease(ClientEvent.CloseLease event);

  /** See {@link ClientEvent.Acquire}. */
  void onAcquire(ClientEvent.Acquire event);

  /** See {@link ClientEvent.Release}. */
  void onRelease(ClientEvent.Release event);

  /** See {@link ClientEvent.QueryPosition}. */
  void onQueryPosition(ClientEvent.QueryPosition event);

  /** See {@link ClientEvent.ShowLocks}. */
  void onShowLocks(ClientEvent.ShowLocks event);

  /** See {@link ClientEvent.WatchLocks}. */
  void onWatchLocks(ClientEvent.WatchLocks event);

  /** See {@link ClientEvent.WatchBegan}. */
  void onWatchBegan(ClientEvent.WatchBegan event);

  /** See {@link ClientEvent.WatchEnded}. */
  void onWatchEnded(ClientEvent.WatchEnded event);

  /** See {@link ClientEvent.CheckToken}. */
  void onCheckToken(ClientEvent.CheckToken event);

  /** See {@link ClientEvent.RequestRelease}. */
  void onRequestRelease(ClientEvent.RequestRelease event);

  /** See {@link ClientEvent.ForceRelease}. */
  void onForceRelease(ClientEvent.ForceRelease event);

  /** See {@link ClientEvent.AnswerRelease}. */
  void onAnswerRelease(ClientEvent.AnswerRelease event);

  /** See {@link ClientEvent.UpdateMetadata}. */
  void onUpdateMetadata(ClientEvent.UpdateMetadata event);

  /** See {@link ClientEvent.ConfigureLock}. */
  void onConfigureLock(ClientEvent.ConfigureLock event);

  /** See {@link ClientEvent.Freeze}. */
  void onFreeze(ClientEvent.Freeze event);

  /** See {@link ClientEvent.Unfreeze}. */
  void onUnfreeze(ClientEvent.Unfreeze event);

  /** See {@link ClientEvent.ForceCloseLease}. */
  void onForceCloseLease(ClientEvent.ForceCloseLease event);

  /** See {@link ClientEvent.StreamClosed}. */
  void onStreamClosed(ClientEvent.StreamClosed event);

  /** See {@link TimeEvent.Tick}. */
  void onTick(TimeEvent.Tick event);

  /** There are so many other coordinators. */
  void onPeersServing(LifecycleEvent.PeersServing event);

  /** The coordinator is about to leave. */
  void onDraining(LifecycleEvent.Draining event);

  /** See {@link LifecycleEvent.Leaving}. */
  void onLeaving(LifecycleEvent.Leaving event);

  /** See {@link TimeEvent.Stalled}. */
  void onStalled(TimeEvent.Stalled event);
}
