package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Freezes and thaws prefixes, and tells those who wait, and holders that want to know. */
public final class Freezing {

  /** How many prefixes may be frozen: each is a node in ZooKeeper that every coordinator reads. */
  static final int MAX_FROZEN = 1_000;

  /** How many waiters of one lock are told unasked; the others may ask. */
  private static final int MAX_TOLD = 1_000;

  private final CoreState core;
  private final Freezes freezes;
  private final Barriers barriers;
  private final Grants grants;
  private final Views views;
  private final AcquisitionLifecycle lifecycle;
  private final Map<Long, Change> underWay = new HashMap<>();
  private long changes;

  /** What was frozen or thawed while the mirror was not whole: no more than is frozen at a time. */
  private final Set<String> untold = new LinkedHashSet<>();

  /** A prefix that is being frozen, for an account, or thawed. */
  private record Change(CallId call, String prefix, Optional<String> freezingFor) {}

  public Freezing(
      CoreState core,
      Freezes freezes,
      Barriers barriers,
      Grants grants,
      Views views,
      AcquisitionLifecycle lifecycle) {
    this.core = core;
    this.freezes = freezes;
    this.barriers = barriers;
    this.grants = grants;
    this.views = views;
    this.lifecycle = lifecycle;
  }

  /** Freezes a prefix, or replaces why and for how long it is frozen. */
  public void freeze(ClientEvent.Freeze event) {
    String prefix = event.freeze().prefix();
    String account = AccountTag.of(core.caller.account());
    int most = core.caller.quota().freezes();
    if (!core.mirror.isCurrent()) {
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
    } else if (freezes.size() + beingFrozen(any -> true) >= MAX_FROZEN
        && !freezes.contains(prefix)) {
      core.fail(
          event.call(),
          Failure.Reason.TOO_MANY,
          "the limit of " + MAX_FROZEN + " frozen prefixes is reached: unfreeze some");
    } else if (freezes.size(account) + beingFrozen(account::equals) >= most
        && !freezes.contains(prefix)) {
      core.fail(
          event.call(),
          Failure.Reason.TOO_MANY,
          "'"
              + core.caller.account()
              + "' reached its limit of "
              + most
              + " frozen prefixes (freezes)");
    } else {
      underWay.put(++changes, new Change(event.call(), prefix, Optional.of(account)));
      core.emit(new StoreEffect.SetFreeze(changes, event.freeze().countedFor(account)));
    }
  }

  private long beingFrozen(Predicate<String> account) {
    return underWay.values().stream()
        .flatMap(c -> c.freezingFor().stream())
        .filter(account)
        .count();
  }

  /** Thaws a prefix. */
  public void unfreeze(ClientEvent.Unfreeze event) {
    underWay.put(++changes, new Change(event.call(), event.prefix(), Optional.empty()));
    core.emit(new StoreEffect.RemoveFreeze(changes, event.prefix()));
  }

  /** A change was made, or could not be. */
  public void onAnswered(FreezeEvent.Answered event) {
    Change change = underWay.remove(event.number());
    if (change == null) {
      return;
    }
    switch (event.outcome()) {
      // After a barrier this coordinator, too, decides by it.
      case DONE -> barriers.pass(passed -> core.reply(change.call(), new Answer.FreezeChanged()));
      case NOT_FROZEN ->
          core.fail(
              change.call(),
              Failure.Reason.NOT_FROZEN,
              "the prefix '" + change.prefix() + "' is not frozen");
      case FAILED ->
          core.fail(
              change.call(),
              Failure.Reason.UNAVAILABLE,
              "ZooKeeper did not confirm it: it may be done, send it again");
    }
  }

  /** A prefix is frozen from here on. */
  public void onAppeared(FreezeEvent.Appeared event) {
    freezes.appeared(event.prefix());
  }

  /** It is known why a prefix is frozen: those who wait are told. */
  public void onRead(FreezeEvent.Read event) {
    if (freezes.read(event)) {
      tell(event.freeze().prefix());
    }
  }

  /** A prefix is frozen no more: whatever no other freeze covers is decided again. */
  public void onVanished(FreezeEvent.Vanished event) {
    if (!freezes.vanished(event.prefix())) {
      return;
    }
    // Outside of this, the rebuild decides.
    if (core.mirror.isCurrent()) {
      List<LockName> thawed = under(event.prefix());
      thawed.forEach(grants::onThawed);
    }
    tell(event.prefix());
  }

  private List<LockName> under(String prefix) {
    return core.mirror.all().stream()
        .map(LockQueue::lock)
        .filter(lock -> lock.value().startsWith(prefix) && !freezes.isFrozen(lock))
        .toList();
  }

  /** The mirror is being read back. */
  public void onListed(FreezeEvent.Listed event) {
    untold.addAll(freezes.listed(event.prefixes()));
  }

  /** The mirror is whole again: those who wait are told what they could not be told meanwhile. */
  public void onCurrent() {
    List<String> prefixes = List.copyOf(untold);
    untold.clear();
    prefixes.forEach(this::tell);
  }

  private void tell(String prefix) {
    if (!core.mirror.isCurrent()) {
      untold.add(prefix);
      return;
    }
    Set<Acquisition> told = new LinkedHashSet<>();
    Set<Acquisition> holding = new LinkedHashSet<>();
    for (LockQueue queue : core.mirror.all()) {
      if (queue.lock().value().startsWith(prefix)) {
        queue.holders().stream()
            .flatMap(entry -> Acquisition.of(entry).stream())
            .forEach(holding::add);
        queue.entries().stream()
            .flatMap(entry -> Acquisition.of(entry).stream())
            .filter(waiter -> waiter.state().isWaiting() && waiter.wasPlaced())
            .limit(MAX_TOLD)
            .forEach(told::add);
      }
    }
    holding.forEach(lifecycle::tellContention);
    told.forEach(
        waiter ->
            lifecycle.tell(
                waiter,
                new Notice.Position(views.recentPlaces(waiter, WaitTimeouts.PLACES_NANOS))));
  }
}
