package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.Failure;
import io.lockkeeper.server.core.LockChange;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** All watchers. On the event loop only. */
final class WatchHub {

  /** For how many ticks changes are kept for watchers that come back. */
  static final int TICKS_KEPT = 150;

  private final int maxWatches;
  private final Set<Watch> watches = new LinkedHashSet<>();
  private final WatchHistory history = new WatchHistory();
  private Optional<Watch.Source> source = Optional.empty();
  private Consumer<Boolean> onWatched = watched -> {};
  private boolean watched = true;
  private int idleTicks;

  WatchHub(int maxWatches) {
    this.maxWatches = maxWatches;
  }

  /** Tells where snapshots come from; until then the mirror has never been whole. */
  void connect(Watch.Source value) {
    source = Optional.of(value);
  }

  /**
   * Says who is told when changes need not be published any more, and when they are wanted again.
   */
  void listen(Consumer<Boolean> listener) {
    onWatched = listener;
  }

  /**
   * Called now and then. When nobody has watched for a while, changes are not asked for: to tell of
   * them costs more than half of what a lock costs the core.
   */
  void tick() {
    idleTicks = watches.isEmpty() ? idleTicks + 1 : 0;
    if (watched && idleTicks >= TICKS_KEPT) {
      watched = false;
      onWatched.accept(false);
    }
  }

  private void wake() {
    if (!watched) {
      watched = true;
      idleTicks = 0;
      source.ifPresent(s -> history.clear(s.revision()));
      onWatched.accept(true);
    }
  }

  int size() {
    return watches.size();
  }

  /** Starts a watch; the listener is refused if that can't be. */
  void start(Watch watch, long startRevision, boolean mirrorCurrent) {
    if (watches.size() >= maxWatches) {
      watch.refuse(
          new RefusedException(
              new Failure(
                  Failure.Kind.TOO_MANY,
                  "the coordinator serves its limit of " + maxWatches + " watches")));
      return;
    }
    if (!mirrorCurrent) {
      watch.refuse(
          new RefusedException(
              new Failure(
                  Failure.Kind.UNAVAILABLE,
                  "the coordinator's mirror of the queues is being rebuilt")));
      return;
    }
    wake();
    watches.add(watch);
    if (startRevision == 0) {
      watch.startSnapshot();
      return;
    }
    Optional<List<LockChange>> missed = history.since(startRevision);
    if (missed.isEmpty()) {
      watch.restart("revision " + startRevision + " is older than what this coordinator remembers");
      return;
    }
    missed.get().stream()
        .filter(change -> watch.filter().matches(change.lock()))
        .forEach(watch::offer);
  }

  void pump(Watch watch) {
    if (watches.contains(watch)) {
      watch.pump();
    }
  }

  void stop(Watch watch) {
    watches.remove(watch);
  }

  void publish(LockChange change) {
    history.add(change);
    for (Watch watch : watches) {
      if (watch.filter().matches(change.lock())) {
        watch.offer(change);
      }
    }
  }

  /** The mirror was out of touch and is whole again. */
  void gap(String reason) {
    source.ifPresent(s -> history.clear(s.revision()));
    watches.forEach(watch -> watch.restart(reason));
  }
}
