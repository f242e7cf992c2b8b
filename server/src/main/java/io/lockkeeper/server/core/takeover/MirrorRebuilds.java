package io.lockkeeper.server.core.takeover;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.Barriers;
import io.lockkeeper.server.core.acquire.Grants;
import io.lockkeeper.server.core.acquire.LockDelays;
import io.lockkeeper.server.core.acquire.PermitLimits;
import io.lockkeeper.server.core.acquire.Publications;
import io.lockkeeper.server.core.acquire.Suppressions;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** Takes the mirror through an outage: stale, read back lock by lock, whole again. */
public final class MirrorRebuilds {

  private static final int MAX_READ_AGAIN = 1_000;

  private final CoreState core;
  private final Barriers barriers;
  private final AcquisitionLifecycle lifecycle;
  private final Grants grants;
  private final LockDelays delays;
  private final PermitLimits limits;
  private final Suppressions suppressions;

  /** Whose entries were being created when the queues were read back. */
  private final Set<Acquisition> undecided = Collections.newSetFromMap(new WeakHashMap<>());

  private final Publications publications;

  public MirrorRebuilds(
      CoreState core,
      Barriers barriers,
      AcquisitionLifecycle lifecycle,
      Grants grants,
      LockDelays delays,
      PermitLimits limits,
      Suppressions suppressions,
      Publications publications) {
    this.suppressions = suppressions;
    this.publications = publications;
    this.core = core;
    this.barriers = barriers;
    this.lifecycle = lifecycle;
    this.grants = grants;
    this.delays = delays;
    this.limits = limits;
  }

  public void onStale() {
    core.mirror.markStale();
  }

  public void onStarted(StoreEvent.RebuildStarted event) {
    core.mirror.beginRebuild(event.locks());
  }

  public void onListed(StoreEvent.QueueListed event) {
    core.mirror.listed(event.lock(), event.entries(), event.markers(), core.now);
    core.mirror
        .queue(event.lock())
        .ifPresent(queue -> queue.entries().forEach(entry -> grants.bind(event.lock(), entry)));
  }

  /** The mirror is whole again: what could not be decided meanwhile is decided now. */
  public void onCurrent() {
    core.mirror.markCurrent();
    delays.onCurrent();
    core.mirror.all().forEach(this::admit);
    publications.gap("the coordinator was out of touch with ZooKeeper");
    core.mirror.marked().forEach(limits::onChanged);
    readAgain();
    undecided.clear();
    List<Acquisition> missing = new ArrayList<>();
    for (Acquisition acquisition : new ArrayList<>(core.acquisitions.values())) {
      forgetAbsent(acquisition);
      grants.decide(acquisition);
      lifecycle.tellContention(acquisition);
      if (!acquisition.isAnswered() && acquisition.state().isLive()) {
        undecided.add(acquisition);
      }
      if (isMissing(acquisition)) {
        missing.add(acquisition);
      }
    }
    // Absent from a listing may also mean that the listing is older than the entry, and present
    // that it is older than the deletion; after a barrier it is neither.
    if (!missing.isEmpty()) {
      barriers.pass(passed -> removeMissing(missing, passed));
    }
    suppressions.forgetAfterBarrier();
  }

  private void admit(LockQueue queue) {
    for (Entry admitted : grants.admitFound(queue)) {
      if (Hold.of(admitted).isEmpty()) {
        admitted.markFound();
      }
    }
  }

  private void forgetAbsent(Acquisition acquisition) {
    for (Hold hold : acquisition.holds()) {
      boolean shown =
          hold.isNamed()
              ? !isAbsent(hold)
              : core.mirror
                  .queue(hold.lock())
                  .flatMap(queue -> queue.entryOf(acquisition.id()))
                  .isPresent();
      if (!shown) {
        hold.awaitMirror();
      }
    }
  }

  /**
   * Acquisitions were adopted with entries that the mirror may not show: because it is behind, or
   * because they have been removed meanwhile.
   */
  void verify(List<Acquisition> adopted) {
    if (!adopted.isEmpty()) {
      barriers.pass(
          passed -> {
            List<Acquisition> left =
                adopted.stream().filter(t -> core.acquisitions.get(t.id()) == t).toList();
            left.forEach(grants::bind);
            removeMissing(left, passed);
            left.forEach(grants::decide);
          });
    }
  }

  /** Entries were created; others may have removed them before that was known here. */
  public void onCreated(Acquisition acquisition) {
    boolean vanished = false;
    for (Hold hold : acquisition.holds()) {
      vanished |= hold.isSeen() && isAbsent(hold);
    }
    if (vanished) {
      remove(acquisition);
    } else if (!undecided.isEmpty() && undecided.remove(acquisition) && isMissing(acquisition)) {
      barriers.pass(passed -> removeMissing(List.of(acquisition), passed));
    }
  }

  /**
   * What entries say may have changed unseen: that of others is forgotten until somebody asks, our
   * holders' is read, since it may carry a wish to give way.
   */
  private void readAgain() {
    int reads = 0;
    for (LockQueue queue : core.mirror.all()) {
      for (Entry entry : queue.entries()) {
        entry.forget();
        boolean ours = Hold.of(entry).filter(Hold::wasGranted).isPresent();
        if (ours && reads < MAX_READ_AGAIN && !entry.markChanged()) {
          reads++;
          core.emit(new StoreEffect.ReadDetails(queue.lock(), entry.name().text()));
        }
      }
    }
  }

  private void removeMissing(List<Acquisition> candidates, boolean passed) {
    if (passed) {
      candidates.stream().filter(this::isMissing).forEach(this::remove);
    }
  }

  /** An entry of an acquisition is gone for certain. */
  void remove(Acquisition acquisition) {
    lifecycle.entryGone(acquisition);
  }

  private boolean isMissing(Acquisition acquisition) {
    AcquisitionState.State state = acquisition.state().state();
    return (state == AcquisitionState.State.QUEUED || state == AcquisitionState.State.HELD)
        && acquisition.isAnswered()
        && acquisition.holds().stream().anyMatch(this::isAbsent);
  }

  private boolean isAbsent(Hold hold) {
    return hold.entryIn(core.mirror).isEmpty();
  }
}
