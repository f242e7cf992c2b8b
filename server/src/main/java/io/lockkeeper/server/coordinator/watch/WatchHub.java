package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The event loop's side of watching: takes the changes, remembers the newest, and hands them to the
 * {@link WatchThread} once a batch. On the event loop only.
 */
public final class WatchHub implements Watch.Source {

  /** How long changes go on being described after the last watcher has left. */
  private static final long DESCRIBED_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final int maxWatches;
  private final Consumer<Runnable> loop;
  private final Locks locks;
  private final CoordinatorClock clock;
  private final WatchThread thread;
  private final Set<Watch> watches = new LinkedHashSet<>();
  private final WatchHistory history = new WatchHistory();
  private List<WatchedChange> batch = new ArrayList<>();
  private boolean described = true;
  private long unwatchedSinceNanos;
  private long number;

  /** What the hub asks of the core. */
  public interface Locks {
    /** Returns the names of the locks in use that the filter wants. */
    List<LockName> names(WatchFilter filter);

    /** Returns one lock as it is now. */
    LockView view(LockName lock);

    /** Returns the newest revision. */
    long revision();

    /** Says whether changes are described, or only told to have happened. */
    void describeChanges(boolean describe);
  }

  /**
   * Makes a hub.
   *
   * @param loop runs a task on the event loop; may be called on any thread
   */
  public WatchHub(int maxWatches, Consumer<Runnable> loop, Locks locks, CoordinatorClock clock) {
    this.maxWatches = maxWatches;
    this.loop = loop;
    this.locks = locks;
    this.clock = clock;
    this.thread = new WatchThread(clock);
    this.unwatchedSinceNanos = clock.nanos();
  }

  /** Starts the watchers' thread. On any thread. */
  public void startDesk() {
    thread.start();
  }

  /** Ends it. On any thread. */
  public void stopDesk() {
    thread.stop();
  }

  public int size() {
    return watches.size();
  }

  /** Starts a watch; the listener is refused if that can't be. */
  public void start(Watch watch, long startRevision, boolean mirrorCurrent) {
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
    watches.add(watch);
    describe(true);
    Optional<List<LockChange>> missed =
        startRevision == 0 ? Optional.empty() : history.since(startRevision);
    flush();
    thread.execute(rounds -> rounds.add(watch));
    if (missed.isPresent()) {
      resume(watch, missed.get());
    } else if (startRevision == 0) {
      restart(watch);
    } else {
      String reason =
          "revision " + startRevision + " is older than what this coordinator remembers";
      thread.execute(rounds -> watch.restart(reason));
    }
  }

  /** Refuses a watch that was never started. On any thread. */
  public void refuse(Watch watch, RefusedException why) {
    thread.execute(rounds -> watch.refuse(why));
  }

  /** Ends all watches. */
  public void refuseAll(RefusedException why) {
    List<Watch> all = List.copyOf(watches);
    all.forEach(
        watch -> {
          stop(watch);
          refuse(watch, why);
        });
  }

  private void resume(Watch watch, List<LockChange> missed) {
    List<LockChange> wanted =
        missed.stream().filter(change -> watch.filter().matches(change.lock())).toList();
    boolean told = wanted.stream().noneMatch(LockChange::isUndescribed);
    List<WatchedChange> changes =
        (told ? wanted : asTheyAre(wanted))
            .stream().map(change -> new WatchedChange(change, number)).toList();
    long current = number;
    thread.execute(rounds -> watch.resume(changes, current));
  }

  /** What was not described while nobody watched: one change for each lock, as it is now. */
  private List<LockChange> asTheyAre(List<LockChange> missed) {
    Map<LockName, Integer> counts = new LinkedHashMap<>();
    Map<LockName, Long> revisions = new LinkedHashMap<>();
    for (LockChange change : missed) {
      // In the order of the newest revisions.
      counts.merge(change.lock(), change.coalesced(), Integer::sum);
      revisions.remove(change.lock());
      revisions.put(change.lock(), change.revision());
    }
    List<LockChange> current = new ArrayList<>(revisions.size());
    revisions.forEach(
        (lock, revision) -> {
          LockView view = locks.view(lock);
          current.add(
              new LockChange(
                  revision,
                  lock,
                  LockChange.Cause.SEVERAL,
                  Optional.empty(),
                  view.holders(),
                  view.queueLength(),
                  Math.max(2, counts.getOrDefault(lock, 2))));
        });
    return current;
  }

  /** Has a watch looked at, because its listener can take something. On any thread. */
  @Override
  public void wake(Watch watch) {
    thread.execute(rounds -> rounds.wake(watch));
  }

  @Override
  public void restart(Watch watch) {
    loop.accept(
        () -> {
          if (watches.contains(watch)) {
            flush();
            Watch.Beginning beginning =
                new Watch.Beginning(locks.names(watch.filter()), locks.revision(), number);
            thread.execute(rounds -> watch.begin(beginning));
          }
        });
  }

  @Override
  public void views(List<LockName> names, Consumer<List<LockView>> answer) {
    loop.accept(
        () -> {
          List<LockView> found = names.stream().map(locks::view).toList();
          flush();
          thread.execute(rounds -> answer.accept(found));
        });
  }

  /** Ends a watch. */
  public void stop(Watch watch) {
    if (watches.remove(watch)) {
      unwatchedSinceNanos = clock.nanos();
      thread.execute(rounds -> rounds.remove(watch));
    }
  }

  /** Tells the watchers of a change at the end of the batch that brings it. */
  public void publish(LockChange change) {
    history.add(change);
    number++;
    if (!watches.isEmpty()) {
      batch.add(new WatchedChange(change, number));
    }
  }

  /** Hands over what was published since the last time. */
  public void flush() {
    if (!batch.isEmpty()) {
      List<WatchedChange> changes = batch;
      batch = new ArrayList<>();
      thread.execute(rounds -> rounds.changed(changes));
    }
  }

  /** Stops describing changes when nobody has watched for a while. */
  public void rest(long nowNanos) {
    if (watches.isEmpty() && nowNanos - unwatchedSinceNanos > DESCRIBED_NANOS) {
      describe(false);
    }
  }

  private void describe(boolean value) {
    if (described != value) {
      described = value;
      locks.describeChanges(value);
    }
  }

  /** The mirror was out of touch and is whole again. */
  public void gap(String reason) {
    history.clear(locks.revision());
    flush();
    thread.execute(rounds -> rounds.gap(reason));
  }
}
