package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** Takes the mirror through an outage: stale, read back lock by lock, whole again. */
final class Rebuilds {

  private static final int MAX_READ_AGAIN = 1_000;

  private final World world;
  private final Barriers barriers;
  private final Acquisitions acquisitions;
  private final Grants grants;
  private final Delays delays;
  private final Limits limits;
  private final Suppressions suppressions;

  /** Whose entries were being created when the queues were read back. */
  private final Set<Ticket> undecided = Collections.newSetFromMap(new WeakHashMap<>());

  Rebuilds(
      World world,
      Barriers barriers,
      Acquisitions acquisitions,
      Grants grants,
      Delays delays,
      Limits limits,
      Suppressions suppressions) {
    this.suppressions = suppressions;
    this.world = world;
    this.barriers = barriers;
    this.acquisitions = acquisitions;
    this.grants = grants;
    this.delays = delays;
    this.limits = limits;
  }

  void onStale() {
    world.mirror.markStale();
  }

  void onStarted(StoreEvent.RebuildStarted event) {
    world.mirror.beginRebuild(event.locks());
  }

  void onListed(StoreEvent.QueueListed event) {
    world.mirror.listed(event.lock(), event.entries(), event.markers(), world.now);
    world
        .mirror
        .queue(event.lock())
        .ifPresent(queue -> queue.entries().forEach(entry -> grants.bind(event.lock(), entry)));
  }

  /** The mirror is whole again: what could not be decided meanwhile is decided now. */
  void onCurrent() {
    world.mirror.markCurrent();
    delays.onCurrent();
    world.mirror.all().forEach(grants::admit);
    world.emit(new Effect.PublishGap("the coordinator was out of touch with ZooKeeper"));
    world.mirror.marked().forEach(limits::onChanged);
    readAgain();
    undecided.clear();
    List<Ticket> missing = new ArrayList<>();
    for (Ticket ticket : new ArrayList<>(world.tickets.values())) {
      forgetAbsent(ticket);
      grants.settle(ticket);
      if (!ticket.isAnswered() && ticket.acquisition().isLive()) {
        undecided.add(ticket);
      }
      if (isMissing(ticket)) {
        missing.add(ticket);
      }
    }
    // Absent from a listing may also mean that the listing is older than the entry, and present
    // that it is older than the deletion; after a barrier it is neither.
    if (!missing.isEmpty()) {
      barriers.pass(passed -> removeMissing(missing, passed));
    }
    suppressions.forgetAfterBarrier();
  }

  private void forgetAbsent(Ticket ticket) {
    for (Hold hold : ticket.holds()) {
      boolean shown =
          hold.isNamed()
              ? !isAbsent(hold)
              : world
                  .mirror
                  .queue(hold.lock())
                  .flatMap(queue -> queue.entryOf(ticket.id()))
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
  void verify(List<Ticket> adopted) {
    if (!adopted.isEmpty()) {
      barriers.pass(
          passed -> {
            List<Ticket> left =
                adopted.stream().filter(t -> world.tickets.get(t.id()) == t).toList();
            left.forEach(grants::bind);
            removeMissing(left, passed);
            left.forEach(grants::settle);
          });
    }
  }

  /** Entries were created; others may have removed them before that was known here. */
  void onCreated(Ticket ticket) {
    boolean vanished = false;
    for (Hold hold : ticket.holds()) {
      vanished |= hold.isSeen() && isAbsent(hold);
    }
    if (vanished) {
      remove(ticket);
    } else if (!undecided.isEmpty() && undecided.remove(ticket) && isMissing(ticket)) {
      barriers.pass(passed -> removeMissing(List.of(ticket), passed));
    }
  }

  /**
   * What entries say may have changed unseen: that of others is forgotten until somebody asks, our
   * holders' is read, since it may carry a wish to give way.
   */
  private void readAgain() {
    int reads = 0;
    for (LockQueue queue : world.mirror.all()) {
      for (Entry entry : queue.entries()) {
        entry.forget();
        boolean ours = Hold.of(entry).filter(Hold::wasGranted).isPresent();
        if (ours && reads < MAX_READ_AGAIN && !entry.markChanged()) {
          reads++;
          world.emit(new Effect.ReadDetails(queue.lock(), entry.name().text()));
        }
      }
    }
  }

  private void removeMissing(List<Ticket> candidates, boolean passed) {
    if (passed) {
      candidates.stream().filter(this::isMissing).forEach(this::remove);
    }
  }

  /** An entry of an acquisition is gone for certain. */
  void remove(Ticket ticket) {
    acquisitions.apply(ticket, new AcquisitionEvent.Removed());
  }

  private boolean isMissing(Ticket ticket) {
    Acquisition.State state = ticket.acquisition().state();
    return (state == Acquisition.State.QUEUED || state == Acquisition.State.HELD)
        && ticket.isAnswered()
        && ticket.holds().stream().anyMatch(this::isAbsent);
  }

  private boolean isAbsent(Hold hold) {
    return hold.entryIn(world.mirror).isEmpty();
  }
}
