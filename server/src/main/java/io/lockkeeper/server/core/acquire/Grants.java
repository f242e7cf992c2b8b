package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Occupancy;
import io.lockkeeper.server.core.queue.Admission;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.queue.Mirror;
import io.lockkeeper.server.core.session.LockSession;
import io.lockkeeper.server.core.session.SessionPool;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;

/** Turns what the mirror sees into grants. */
public final class Grants {

  private final CoreState core;
  private final SessionPool pool;
  private final Publications publications;
  private final PermitLimits limits;
  private final AcquisitionLifecycle lifecycle;
  private final LockDelays delays;
  private final Freezes freezes;
  private final ForcedReleases forcedReleases;
  private final Reentrancy reentrancy;
  private final Suppressions suppressions;

  public Grants(
      CoreState core,
      SessionPool pool,
      Publications publications,
      AcquisitionLifecycle lifecycle,
      LockDelays delays,
      Freezes freezes,
      PermitLimits limits,
      ForcedReleases forcedReleases,
      Reentrancy reentrancy,
      Suppressions suppressions) {
    this.suppressions = suppressions;
    this.core = core;
    this.reentrancy = reentrancy;
    this.delays = delays;
    this.freezes = freezes;
    this.limits = limits;
    this.forcedReleases = forcedReleases;
    this.pool = pool;
    this.publications = publications;
    this.lifecycle = lifecycle;
  }

  public void onMarkerAppeared(StoreEvent.MarkerAppeared event) {
    if (!core.mirror.markerAppeared(event.lock(), event.marker(), event.zxid())) {
      return;
    }
    if (event.marker() instanceof MarkerName.Guard guard) {
      delays.onAppeared(event.lock(), guard);
    } else {
      onLimit(event.lock());
    }
  }

  public void onMarkerVanished(LockName lock, MarkerName marker, long zxid) {
    if (!core.mirror.markerVanished(lock, marker, zxid)) {
      return;
    }
    if (marker instanceof MarkerName.Guard guard) {
      core.mirror
          .queue(lock)
          .flatMap(queue -> queue.entryOf(guard.id()))
          .ifPresent(Entry::markLeftCleanly);
      forcedReleases.onGone(lock, guard.text());
      if (delays.onVanished(lock, guard)) {
        advance(lock);
      }
    } else {
      onLimit(lock);
    }
  }

  private void onLimit(LockName lock) {
    limits.onChanged(lock);
    advance(lock);
    if (core.mirror.isCurrent()) {
      publications.publish(lock, LockChange.Cause.LIMIT, Optional.empty());
    }
  }

  public void onAppeared(StoreEvent.EntryAppeared event) {
    core.mirror
        .appeared(event.lock(), event.entry(), event.zxid(), core.now)
        .ifPresent(entry -> arrived(event.lock(), entry));
  }

  private void arrived(LockName lock, Entry entry) {
    bind(lock, entry);
    advance(lock);
    if (core.mirror.isCurrent() && !entry.holds()) {
      publications.publish(lock, LockChange.Cause.QUEUED, Optional.of(entry));
      tellHolders(lock);
    }
    limits.onQueued(lock, entry);
    Acquisition.of(entry).ifPresent(this::decide);
  }

  /** Somebody waits: those who hold are told, if they want to know. */
  private void tellHolders(LockName lock) {
    for (Entry holder : core.mirror.queue(lock).orElseThrow().holders()) {
      Acquisition.of(holder).ifPresent(lifecycle::tellContention);
    }
  }

  /**
   * A request has come that will wait, and its entries are on their way. Who holds alone what it
   * asks for hears of it before they are there: so a lock that is given back for it is free when
   * they are.
   */
  public void tellArrival(Acquisition arriving) {
    for (Hold hold : arriving.holds()) {
      if (hold.beside().isEmpty()) {
        soleHolderAheadOf(hold).ifPresent(holder -> lifecycle.tellArrival(holder, hold.lock()));
      }
    }
  }

  private Optional<Acquisition> soleHolderAheadOf(Hold arriving) {
    OptionalInt limit = core.mirror.limit(arriving.lock());
    return core.mirror
        .queue(arriving.lock())
        .filter(queue -> queue.size() == 1 && queue.first().holds())
        .map(LockQueue::first)
        .filter(first -> !Occupancy.free(limit).plus(first.name()).admits(arriving.mode()))
        .flatMap(Acquisition::of);
  }

  /** Makes an entry its acquisition's, if it is ours. */
  public void bind(LockName lock, Entry entry) {
    Optional<UUID> id = entry.name().id();
    Acquisition acquisition = id.isPresent() ? core.acquisitions.get(id.get()) : null;
    if (acquisition != null) {
      acquisition.hold(lock).ifPresent(hold -> bind(entry, hold));
    }
  }

  /** Makes those entries an acquisition's that the mirror shows. */
  public void bind(Acquisition acquisition) {
    for (Hold hold : acquisition.holds()) {
      hold.entryIn(core.mirror).ifPresent(entry -> bind(entry, hold));
    }
  }

  private void bind(Entry entry, Hold hold) {
    boolean first = Hold.of(entry).isEmpty();
    entry.bind(hold);
    hold.seen();
    if (first && entry.holds() && !hold.wasGranted() && waitsForCommit(entry, hold)) {
      core.mirror.queue(hold.lock()).orElseThrow().holdNoMore(entry);
      tellHolders(hold.lock());
    }
  }

  /** While it was another's it may have been let past a released entry: {@link Admission}. */
  private boolean waitsForCommit(Entry entry, Hold hold) {
    Collection<Entry> before = core.mirror.queue(hold.lock()).orElseThrow().before(entry);
    return entry.hasOwnGuard()
        && before.stream().anyMatch(Entry::isReleased)
        && !Admission.admits(entry, before, core.mirror.limit(hold.lock()));
  }

  /**
   * The answer to our own deletion is there: it may come before the mirror's events, and is as
   * certain. But what keeps others out when the entry is gone must be seen first: what was placed
   * beside it, and the guard that a lost holder leaves.
   */
  public void onDeleted(Acquisition acquisition, EntryRef ref) {
    Optional<Hold> hold = acquisition.hold(ref.lock());
    if (acquisition.isRefused()
        || hold.isEmpty()
        || hold.get().isFollowed()
        || leavesUnseenGuard(hold.get())) {
      return;
    }
    boolean toldBefore =
        core.mirror.isCurrent()
            && hold.get().isSeen()
            && core.mirror.find(ref.lock(), ref.entry()).isEmpty();
    if (!toldBefore) {
      long czxid = hold.get().czxid();
      ref.guard().ifPresent(guard -> suppressions.suppress(ref.lock(), guard, czxid));
      suppressions.suppress(ref.lock(), ref.entry(), czxid);
    }
    ref.guard()
        .flatMap(MarkerName::parse)
        .ifPresent(guard -> onMarkerVanished(ref.lock(), guard, 0));
    onVanished(ref.lock(), ref.entry(), 0);
  }

  private boolean leavesUnseenGuard(Hold hold) {
    return hold.ref().guard().isEmpty()
        && hold.guard()
            .filter(guard -> core.mirror.guard(hold.lock(), guard.id()).isEmpty())
            .isPresent();
  }

  /** An entry is gone: seen by the mirror, or known from the answer to our own deletion. */
  public void onVanished(LockName lock, String name, long zxid) {
    core.mirror.vanished(lock, name, zxid).ifPresent(entry -> departed(lock, entry));
  }

  private void departed(LockName lock, Entry entry) {
    boolean delayed = delays.onGone(lock, entry);
    HoldEnd end = departureOf(entry, delayed);
    Acquisition.of(entry)
        .filter(acquisition -> acquisition.state().isLive())
        .ifPresent(acquisition -> lifecycle.entryGone(acquisition));
    Hold.of(entry).ifPresent(lifecycle::baseGone);
    forcedReleases.onGone(lock, entry.name().text());
    if (entry.isReleased()) {
      advance(lock);
      return;
    }
    boolean wasHeld =
        Hold.of(entry).isPresent()
            ? Hold.of(entry).filter(hold -> wasHeld(entry, hold)).isPresent()
            : entry.holds();
    if (wasHeld) {
      core.mirror.noteDeparture(lock, new Mirror.Departure(end, heldUntil(entry)));
    }
    advance(lock, causeOf(end), entry);
  }

  private static boolean wasHeld(Entry entry, Hold hold) {
    return hold.wasGranted() || (entry.holds() && hold.acquisition().isDormant());
  }

  private static OptionalLong heldUntil(Entry entry) {
    return Acquisition.of(entry)
        .map(acquisition -> acquisition.times().heldUntilNanos())
        .orElse(OptionalLong.empty());
  }

  private static HoldEnd departureOf(Entry entry, boolean delayed) {
    HoldEnd told = Acquisition.of(entry).map(Acquisition::end).orElse(HoldEnd.UNKNOWN);
    if (told != HoldEnd.UNKNOWN) {
      return told;
    }
    if (delayed) {
      return HoldEnd.LOST;
    }
    return entry.leftCleanly() ? HoldEnd.RELEASED : HoldEnd.UNKNOWN;
  }

  private static LockChange.Cause causeOf(HoldEnd end) {
    return switch (end) {
      case RELEASED, CANCELLED -> LockChange.Cause.RELEASED;
      case WITHDRAWN -> LockChange.Cause.WITHDRAWN;
      case LEASE_ENDED -> LockChange.Cause.LEASE_ENDED;
      case FORCED -> LockChange.Cause.FORCED;
      case SESSION_LOST, LOST, UNKNOWN -> LockChange.Cause.REMOVED;
    };
  }

  /**
   * The holder has released and its deletion is on its way: the next may hold now, since a correct
   * holder has stopped using the lock when it releases it.
   */
  public void onReleasing(Acquisition acquisition) {
    if (!core.settings.handOffAhead() || core.leaving) {
      return;
    }
    for (Hold hold : acquisition.holds()) {
      // What is placed beside the entry comes before whoever waits: that must be known first.
      if (!hold.isFollowed()) {
        hold.entryIn(core.mirror).ifPresent(entry -> handOff(hold.lock(), entry));
      }
    }
  }

  private void handOff(LockName lock, Entry entry) {
    core.mirror.queue(lock).orElseThrow().release(entry);
    core.mirror.noteDeparture(
        lock, new Mirror.Departure(HoldEnd.RELEASED, OptionalLong.of(core.now)));
    advance(lock, LockChange.Cause.RELEASED, entry);
  }

  /** Applies the admission rule to one queue, unless the mirror may be wrong. */
  private void advance(LockName lock) {
    if (core.mirror.isCurrent()) {
      decide(lock, admitted(lock));
    }
  }

  /** The same when an entry is gone, of which watchers hear before they hear who is next. */
  private void advance(LockName lock, LockChange.Cause cause, Entry gone) {
    if (core.mirror.isCurrent()) {
      List<Entry> admitted = admitted(lock);
      publications.publish(lock, cause, Optional.of(gone));
      decide(lock, admitted);
    }
  }

  private List<Entry> admitted(LockName lock) {
    Optional<LockQueue> queue = core.mirror.queue(lock);
    return queue.isPresent() ? admit(queue.get()) : List.of();
  }

  private void decide(LockName lock, List<Entry> admitted) {
    for (Entry entry : admitted) {
      Optional<Acquisition> acquisition = Acquisition.of(entry);
      // A waiter that has given up and is on its way out is granted nothing.
      if (acquisition.isEmpty() || acquisition.get().state().isLive()) {
        publications.publish(lock, LockChange.Cause.GRANTED, Optional.of(entry));
      }
      if (acquisition.isPresent()) {
        decide(acquisition.get());
        // What was granted ahead of its entry is one of the holders for the queue only now.
        lifecycle.tellContention(acquisition.get());
      }
    }
  }

  private List<Entry> admit(LockQueue queue) {
    if (freezes.isFrozen(queue.lock())) {
      queue.admitNobody();
      return List.of();
    }
    return admitFound(queue);
  }

  /**
   * Applies the admission rule to one queue, unless a delay keeps it closed. Of a queue that was
   * just read back, who is first is taken for a holder in a freeze, too: it may have been granted
   * before, and then it must not look as if it held nothing. Nothing is granted by that: see {@link
   * #proof}.
   */
  public List<Entry> admitFound(LockQueue queue) {
    if (delays.isDelayed(queue.lock())) {
      queue.admitNobody();
      return List.of();
    }
    return queue.admit(core.now, core.mirror.limit(queue.lock()));
  }

  /** A lock is frozen no more. */
  void onThawed(LockName lock) {
    advance(lock);
    // Who looks like a holder since before waits too.
    core.mirror.queue(lock).map(LockQueue::holders).orElse(List.of()).stream()
        .flatMap(entry -> Acquisition.of(entry).stream())
        .toList()
        .forEach(this::decide);
  }

  /** Entries have been created: what is granted by them is granted now. */
  public void onCreated(Acquisition acquisition) {
    // One that was granted ahead of that may be what others of its owner are placed beside.
    boolean ahead = acquisition.state().isHeld();
    decide(acquisition);
    if (ahead) {
      for (Hold hold : acquisition.holds()) {
        hold.here().forEach(other -> decide(other.acquisition()));
      }
    }
  }

  /** Grants the acquisition if everything allows it, and otherwise tells it that it waits. */
  public void decide(Acquisition acquisition) {
    boolean again = grantOrPlace(acquisition);
    while (again) {
      // Its owner may wait for more at the places that it is known to hold now.
      again = false;
      for (Acquisition other : List.copyOf(acquisition.lease().acquisitions().values())) {
        again |= grantOrPlace(other);
      }
    }
  }

  /**
   * Returns whether an adopted acquisition was granted, which may be news to others of its lease.
   */
  private boolean grantOrPlace(Acquisition acquisition) {
    if (!acquisition.state().isWaiting() || acquisition.isDormant()) {
      return false;
    }
    if (!isHeld(acquisition)) {
      if (isSeen(acquisition) && !acquisition.wasPlaced() && !acquisition.isClaimed()) {
        lifecycle.place(acquisition);
      }
      return false;
    }
    if (core.leaving) {
      return false; // What clients can rely on is recorded: a grant now would not be part of it.
    }
    Optional<LockSession> session = pool.find(acquisition.lease().session());
    if (session.isEmpty() || !session.get().isSure() || pool.boundLeftNanos(session.get()) <= 0) {
      return false;
    }
    acquisition.holds().forEach(hold -> proof(hold).ifPresent(hold::grant));
    lifecycle.grant(acquisition);
    return acquisition.adoptedState().isPresent();
  }

  /** Returns whether the mirror shows all entries of an acquisition, and can be relied on. */
  private boolean isSeen(Acquisition acquisition) {
    if (!core.mirror.isCurrent() || acquisition.state().state() != AcquisitionState.State.QUEUED) {
      return false;
    }
    for (Hold hold : acquisition.holds()) {
      if (!hold.isSeen()) {
        return false;
      }
    }
    return true;
  }

  private boolean isHeld(Acquisition acquisition) {
    for (Hold hold : acquisition.holds()) {
      if (proof(hold).isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Returns how it is known that a lock is held, or empty if it is not. */
  private Optional<Hold.Proof> proof(Hold hold) {
    if (hold.wasGrantedBefore() || (hold.acquisition().isClaimed() && isClaimTrue(hold))) {
      return Optional.of(Hold.Proof.CLIENT);
    }
    if (isHeldByOwner(hold)) {
      return Optional.of(Hold.Proof.OWNER);
    }
    return !freezes.isFrozen(hold.lock()) && isHeldByQueue(hold)
        ? Optional.of(Hold.Proof.QUEUE)
        : Optional.empty();
  }

  /**
   * Another coordinator can have granted it: everything ahead of its place goes with it, or has
   * been released. A freeze does not matter, since holders keep their locks in it.
   */
  private boolean isClaimTrue(Hold hold) {
    Optional<Entry> place = hold.placeIn(core.mirror);
    if (!core.mirror.isCurrent() || place.isEmpty() || place.get().isReleased()) {
      return false;
    }
    Entry entry = place.get();
    if (entry.holds() || delays.isDelayed(hold.lock())) {
      return entry.holds();
    }
    List<Entry> before =
        core.mirror.queue(hold.lock()).orElseThrow().before(entry).stream()
            .filter(other -> !other.isReleased() || entry.hasOwnGuard())
            .toList();
    OptionalInt limit = core.mirror.limit(hold.lock());
    if (limit.isPresent() && before.stream().allMatch(Grants::heldBefore)) {
      // Permits: the limit may have been reduced since they were all granted.
      limit = OptionalInt.of(Math.max(limit.getAsInt(), entry.mode().capacity()));
    }
    return Admission.admits(entry, before, limit);
  }

  private static boolean heldBefore(Entry entry) {
    return Hold.of(entry)
        .filter(hold -> hold.wasGrantedBefore() || hold.acquisition().isClaimed())
        .isPresent();
  }

  /**
   * Its owner holds the lock already, by an entry that exists: that beside which this one is
   * placed, so nobody needs to wait until it is created; or, of what was adopted, any at the same
   * place. Not with a lock delay: see {@link Admission#holders}.
   */
  private boolean isHeldByOwner(Hold hold) {
    if (hold.guard().isPresent() || !hold.isNamed() || !hold.mode().isReentrant()) {
      return false;
    }
    return reentrancy.anyAt(
        hold,
        other ->
            other.isGranted()
                && other.acquisition().isAnswered()
                && hold.beside().filter(base -> base != other).isEmpty());
  }

  private boolean isHeldByQueue(Hold hold) {
    if (!core.mirror.isCurrent() || !hold.isNamed() || !hold.acquisition().isAnswered()) {
      return false;
    }
    Optional<Entry> entry = hold.entryIn(core.mirror);
    return entry.isPresent() && entry.get().holds() && !entry.get().isReleased();
  }
}
