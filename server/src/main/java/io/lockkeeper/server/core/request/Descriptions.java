package io.lockkeeper.server.core.request;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.acquire.EntryReads;
import io.lockkeeper.server.core.acquire.EntryUpdates;
import io.lockkeeper.server.core.acquire.Publications;
import io.lockkeeper.server.core.acquire.Views;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * What contenders say of themselves while they are in a queue: changed by their clients, written
 * into their entries, and brought to those who wait and watch.
 */
public final class Descriptions {

  /** How many waiters of one lock are told unasked; the others may ask. */
  static final int MAX_TOLD = 1_000;

  private static final long TOLD_EVERY_NANOS = Duration.ofSeconds(1).toNanos();

  private final CoreState core;
  private final Views views;
  private final AcquisitionLifecycle lifecycle;
  private final Leases leases;
  private final EntryUpdates updates;
  private final EntryReads reads;
  private final Publications publications;
  private final AdoptionGrace grace;
  private final Set<LockName> quiet = new HashSet<>();
  private final Set<LockName> changedMeanwhile = new HashSet<>();

  public Descriptions(
      CoreState core,
      Views views,
      AcquisitionLifecycle lifecycle,
      Leases leases,
      EntryUpdates updates,
      EntryReads reads,
      Publications publications,
      AdoptionGrace grace) {
    this.reads = reads;
    this.publications = publications;
    this.grace = grace;
    this.core = core;
    this.views = views;
    this.lifecycle = lifecycle;
    this.leases = leases;
    this.updates = updates;
  }

  /** Changes what a contender says of itself. */
  public void updateMetadata(ClientEvent.UpdateMetadata event) {
    change(
        event.call(),
        event.lease(),
        event.requestId(),
        false,
        acquisition -> core.accounts.describe(core.caller, acquisition, event.metadata()));
  }

  /** Takes what a holder answers to a wish to give way. */
  public void answerRelease(ClientEvent.AnswerRelease event) {
    Duration needs = event.needs();
    change(
        event.call(),
        event.lease(),
        event.requestId(),
        true,
        acquisition -> {
          acquisition.description().needs(needs, core.now);
          return Optional.empty();
        });
  }

  private void change(
      CallId call,
      LeaseId leaseId,
      String requestId,
      boolean holdersOnly,
      Function<Acquisition, Optional<Failure>> change) {
    Optional<Lease> lease = leases.findOpen(leaseId);
    if (lease.isEmpty()) {
      core.reply(call, new Answer.Failed(leases.unknown(leaseId)));
      return;
    }
    Optional<Acquisition> acquisition = grace.find(lease.get(), requestId);
    if (acquisition.isEmpty() && lease.get().ending(requestId).isEmpty()) {
      core.fail(call, Failure.Reason.UNKNOWN_ACQUISITION, Releases.unknown(requestId));
      return;
    }
    Optional<Failure> obstacle = obstacle(acquisition, holdersOnly);
    if (obstacle.isPresent()) {
      core.reply(call, new Answer.Failed(obstacle.get()));
    } else {
      acquisition.ifPresent(t -> write(call, t, change));
    }
  }

  private static Optional<Failure> obstacle(
      Optional<Acquisition> acquisition, boolean holdersOnly) {
    Optional<AcquisitionState> state = acquisition.map(Acquisition::state);
    if (state.filter(a -> a.isHeld() || a.isWaiting()).isEmpty()) {
      return Optional.of(new Failure(Failure.Reason.ENDED, "the acquisition has ended"));
    }
    if (holdersOnly && !state.get().isHeld()) {
      return Optional.of(new Failure(Failure.Reason.NOT_HELD, "the acquisition holds nothing yet"));
    }
    return !acquisition.get().isAnswered()
        ? Optional.of(
            new Failure(Failure.Reason.UNAVAILABLE, "the request is being queued: send it again"))
        : Optional.empty();
  }

  private void write(
      CallId call, Acquisition acquisition, Function<Acquisition, Optional<Failure>> change) {
    Optional<Failure> refusal = change.apply(acquisition);
    if (refusal.isPresent()) {
      core.reply(call, new Answer.Failed(refusal.get()));
      return;
    }
    Map<NodeKey, EntryUpdate> described = new LinkedHashMap<>();
    for (Hold hold : acquisition.holds()) {
      described.put(hold.key(), hold.description(core.now));
    }
    updates.send(described, outcomes -> answer(call, acquisition, EntryUpdates.worst(outcomes)));
  }

  private void answer(CallId call, Acquisition acquisition, EntryUpdate.Outcome outcome) {
    switch (outcome) {
      case DONE -> {
        core.reply(call, new Answer.Described());
        acquisition
            .holds()
            .forEach(h -> h.entryIn(core.mirror).ifPresent(entry -> announce(h.lock(), entry)));
      }
      case GONE -> core.fail(call, Failure.Reason.ENDED, "the acquisition has ended");
      case UNREADABLE ->
          core.fail(
              call,
              Failure.Reason.STORE_REFUSED,
              "the entry has a format of a newer release, which this coordinator cannot change");
      case FAILED ->
          core.fail(
              call,
              Failure.Reason.UNAVAILABLE,
              "ZooKeeper did not confirm the change: it may be made, send it again");
    }
  }

  /** A contender says something else of itself. */
  public void announce(LockName lock, Entry entry) {
    publications.publish(lock, LockChange.Cause.METADATA, Optional.of(entry));
    if (entry.holds()) {
      tellWaiters(lock);
    }
  }

  /** Somebody has begun to wait: whoever holds is read if need be, and told then. */
  public void onWaiting(Acquisition acquisition) {
    for (Hold hold : acquisition.holds()) {
      List<NodeKey> unnamed = views.unnamedHolders(hold.lock());
      if (!unnamed.isEmpty()) {
        reads.read(unnamed, () -> tellWaiters(hold.lock()));
      }
    }
  }

  /** Tells those who wait, once a second at most. */
  private void tellWaiters(LockName lock) {
    if (!quiet.add(lock)) {
      changedMeanwhile.add(lock);
      return;
    }
    core.timers.at(core.now + TOLD_EVERY_NANOS, () -> quietOver(lock));
    core.mirror.queue(lock).stream()
        .flatMap(queue -> queue.waiters(MAX_TOLD).stream())
        .flatMap(entry -> Acquisition.of(entry).stream())
        .filter(acquisition -> acquisition.state().isWaiting() && acquisition.wasPlaced())
        .toList()
        .forEach(
            acquisition ->
                lifecycle.tell(acquisition, new Notice.Position(views.places(acquisition))));
  }

  private void quietOver(LockName lock) {
    quiet.remove(lock);
    if (changedMeanwhile.remove(lock)) {
      tellWaiters(lock);
    }
  }
}
