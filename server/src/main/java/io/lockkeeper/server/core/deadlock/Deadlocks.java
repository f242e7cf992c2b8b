package io.lockkeeper.server.core.deadlock;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.EntryReads;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Finds cycles of waits and has the youngest acquisition in each refused. A cycle closes when an
 * entry is queued, since whoever waits waits for what was there before; the coordinator of that
 * entry sees everything ahead of it in its mirror, so it alone decides, and nothing is sent.
 *
 * <p>Whose an entry is says its name, as far as the lease goes; the owner inside the lease says its
 * data. So a first search takes all owners of a lease that another coordinator serves for one, and
 * only where that finds a cycle is the data of such entries read and the search repeated.
 */
public final class Deadlocks {

  private static final int MAX_READS = 256;
  private static final int MAX_STEPS_TOLD = 16;
  private static final long AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

  private final CoreState core;
  private final AcquisitionLifecycle lifecycle;
  private final EntryReads reads;

  public Deadlocks(CoreState core, AcquisitionLifecycle lifecycle, EntryReads reads) {
    this.core = core;
    this.lifecycle = lifecycle;
    this.reads = reads;
  }

  /** An acquisition has begun to wait. */
  public void onWaiting(Acquisition acquisition) {
    boolean waits = acquisition.state().isWaiting();
    if (!waits || acquisition.command().unsearched() || isHarmless(acquisition)) {
      return;
    }
    if (!core.mirror.isCurrent()) {
      searchKnown(acquisition, List.of());
      return;
    }
    WaitSearch coarse = new WaitSearch(core, acquisition, true);
    if (!coarse.mayBe()) {
      if (coarse.mayChange()) {
        again(acquisition);
      }
      return;
    }
    List<NodeKey> unread = coarse.undescribed();
    List<NodeKey> read = unread.subList(0, Math.min(unread.size(), MAX_READS));
    // In a long queue there is more to read than should be under way at once.
    boolean all = read.size() == unread.size();
    reads.read(read, () -> onRead(acquisition, read, all));
  }

  /**
   * Nobody waits for anything that its owner holds or waits for, or all of that is one lock, in
   * which no owner waits for itself: so it is most of the time.
   */
  private boolean isHarmless(Acquisition acquisition) {
    boolean alone = true;
    boolean oneLock =
        acquisition.holds().size() == 1 && acquisition.holds().get(0).mode().isReentrant();
    for (Acquisition other : acquisition.lease().acquisitions().values()) {
      if (!other.command().owner().equals(acquisition.command().owner())) {
        continue;
      }
      for (Hold hold : other.holds()) {
        alone = alone && other.isAnswered() && isLast(hold);
        boolean sameLock = hold.lock().equals(acquisition.holds().get(0).lock());
        oneLock = oneLock && sameLock && hold.mode().isReentrant();
      }
      if (!alone && !oneLock) {
        return false;
      }
    }
    return true;
  }

  private boolean isLast(Hold hold) {
    Optional<LockQueue> queue = core.mirror.queue(hold.lock());
    Optional<Entry> entry = hold.entryIn(core.mirror);
    return queue.isEmpty() || entry.isEmpty() || queue.get().isLast(entry.get());
  }

  private void onRead(Acquisition acquisition, List<NodeKey> read, boolean all) {
    if (!all && core.mirror.isCurrent() && read.stream().allMatch(this::isKnown)) {
      onWaiting(acquisition);
    } else {
      searchKnown(acquisition, read);
    }
  }

  private void searchKnown(Acquisition acquisition, List<NodeKey> read) {
    if (!acquisition.state().isWaiting()) {
      return;
    }
    if (!core.mirror.isCurrent() || !read.stream().allMatch(this::isKnown)) {
      again(acquisition);
      return;
    }
    WaitSearch search = new WaitSearch(core, acquisition, false);
    search
        .cycle()
        .ifPresentOrElse(
            this::refuseYoungest,
            () -> {
              if (search.mayChange()) {
                again(acquisition);
              }
            });
  }

  /** Nobody else looks for a cycle that this entry has closed. */
  private void again(Acquisition acquisition) {
    core.timers.at(core.now + AGAIN_NANOS, () -> onWaiting(acquisition));
  }

  /** Returns whether it was read, or is gone. */
  private boolean isKnown(NodeKey key) {
    return core.mirror.find(key.lock(), key.name()).map(Entry::isDescribed).orElse(true);
  }

  private void refuseYoungest(List<WaitSearch.WaitEdge> cycle) {
    WaitSearch.WaitEdge youngest =
        cycle.stream()
            .max(Comparator.comparingLong(step -> step.entry().czxid().orElse(0)))
            .orElseThrow();
    // Where another coordinator serves the youngest, that one finds the same cycle.
    Acquisition.of(youngest.entry())
        .filter(acquisition -> acquisition.state().isWaiting())
        .ifPresent(
            acquisition ->
                lifecycle.refuseCycle(
                    acquisition, told(cycle, youngest), () -> onWaiting(acquisition)));
  }

  private static Notice.WaitCycle told(
      List<WaitSearch.WaitEdge> cycle, WaitSearch.WaitEdge youngest) {
    int start = cycle.indexOf(youngest);
    List<Notice.WaitCycle.Step> steps = new ArrayList<>();
    for (int i = 0; i < Math.min(cycle.size(), MAX_STEPS_TOLD); i++) {
      WaitSearch.WaitEdge step = cycle.get((start + i) % cycle.size());
      steps.add(
          new Notice.WaitCycle.Step(
              name(step.entry()), step.lock(), name(step.obstacle()), step.obstacle().holds()));
    }
    return new Notice.WaitCycle(steps, cycle.size() - steps.size());
  }

  private static String name(Entry entry) {
    Optional<EntryDetails> details = entry.details();
    Function<Function<EntryDetails, String>, String> part = field -> details.map(field).orElse("");
    String tag =
        entry.name().id().map(id -> LeaseId.tagOf(id.getMostSignificantBits())).orElse("?");
    String owner = part.apply(EntryDetails::owner);
    return "'"
        + part.apply(EntryDetails::holder)
        + "' (lease "
        + tag
        + (owner.isEmpty() ? "" : ", owner '" + owner + "'")
        + ", request '"
        + part.apply(EntryDetails::requestId)
        + "')";
  }
}
