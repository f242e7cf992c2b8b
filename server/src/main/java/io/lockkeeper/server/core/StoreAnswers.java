package io.lockkeeper.server.core;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.EntryReads;
import io.lockkeeper.server.core.acquire.Grants;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.request.Descriptions;
import io.lockkeeper.server.core.request.Revocation;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionEvent;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.takeover.MirrorRebuilds;
import java.util.Optional;
import java.util.UUID;

/** What ZooKeeper's answers to our own writes and reads mean for the acquisitions concerned. */
final class StoreAnswers {

  private final CoreState core;
  private final AcquisitionLifecycle lifecycle;
  private final MirrorRebuilds rebuilds;
  private final Grants grants;
  private final EntryReads reads;
  private final Revocation revocation;
  private final Descriptions descriptions;

  StoreAnswers(
      CoreState core,
      AcquisitionLifecycle lifecycle,
      MirrorRebuilds rebuilds,
      Grants grants,
      EntryReads reads,
      Revocation revocation,
      Descriptions descriptions) {
    this.reads = reads;
    this.revocation = revocation;
    this.descriptions = descriptions;
    this.core = core;
    this.lifecycle = lifecycle;
    this.rebuilds = rebuilds;
    this.grants = grants;
  }

  private Optional<Acquisition> find(UUID id) {
    return Optional.ofNullable(core.acquisitions.get(id));
  }

  /** Returns who waits for this answer: what was adopted meanwhile was read, and knows it. */
  private Optional<Acquisition> findUnanswered(UUID id) {
    return find(id).filter(acquisition -> !acquisition.isAnswered());
  }

  void onCreated(StoreEvent.EntriesCreated event) {
    Optional<Acquisition> found = findUnanswered(event.id());
    if (found.isPresent()) {
      Acquisition acquisition = found.get();
      lifecycle.created(acquisition, event.entries());
      rebuilds.onCreated(acquisition);
      grants.onCreated(acquisition);
    }
  }

  void onRefused(StoreEvent.EntriesRefused event) {
    findUnanswered(event.id())
        .ifPresent(acquisition -> lifecycle.refused(acquisition, event.message(), event.passing()));
  }

  void onDeletionDelayed(StoreEvent.DeletionDelayed event) {
    find(event.id())
        .ifPresent(acquisition -> lifecycle.deletionDelayed(acquisition, event.message()));
  }

  void onDeleted(StoreEvent.EntriesDeleted event) {
    Optional<Acquisition> found = find(event.id());
    if (found.isEmpty()) {
      return;
    }
    Acquisition acquisition = found.get();
    lifecycle.apply(acquisition, new AcquisitionEvent.Deleted());
    for (EntryRef ref : acquisition.leaving()) {
      grants.onDeleted(acquisition, ref);
    }
  }

  void onRead(StoreEvent.DetailsRead event) {
    Optional<Entry> entry = core.mirror.find(event.lock(), event.entry());
    boolean changed = entry.filter(Entry::takeChanged).isPresent();
    entry.ifPresent(e -> event.read().ifPresent(read -> e.learn(read, core.now)));
    if (changed) {
      entry.ifPresent(e -> event.read().ifPresent(read -> onChanged(event.lock(), e, read)));
    }
    reads.onRead(event);
  }

  private void onChanged(LockName lock, Entry entry, StoreEvent.ReadEntry read) {
    if (Acquisition.of(entry).isPresent()) {
      read.details().ask().ifPresent(ask -> revocation.onAsked(entry, ask));
    } else {
      descriptions.announce(lock, entry);
    }
  }
}
