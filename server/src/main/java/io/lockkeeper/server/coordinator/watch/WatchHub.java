package io.lockkeeper.server.coordinator.watch;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.coordinator.serial.AwaitedTask;
import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The event loop's side of watching: takes the changes, remembers the newest, and hands them to the
 * {@link WatchThread} once a batch. On the event loop only, unless a method says otherwise.
 */
public final class WatchHub implements Watch.Source {

  /** How long changes go on being described after the last watcher has left. */
  private static final long DESCRIBED_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final int maxWatches;
  private final Consumer<Runnable> loop;
  private final Function<List<LockName>, CompletableFuture<Answer>> reader;
  private final Kernel kernel;
  private final CoordinatorClock clock;
  private final WatchThread thread;
  private final Set<Watch> watches = new LinkedHashSet<>();
  private final WatchHistory history = new WatchHistory();
  private List<WatchedChange> batch = new ArrayList<>();
  private long unwatchedSinceNanos;
  private long number;

  /**
   * Makes a hub.
   *
   * @param loop runs a task on the event loop; may be called on any thread
   * @param reader has the entries of locks read of which too little is known; answers on the loop
   * @param kernel what watchers see
   */
  public WatchHub(
      int maxWatches,
      Consumer<Runnable> loop,
      Function<List<LockName>, CompletableFuture<Answer>> reader,
      Kernel kernel,
      CoordinatorClock clock) {
    this.reader = reader;
    this.maxWatches = maxWatches;
    this.loop = loop;
    this.kernel = kernel;
    this.clock = clock;
    this.thread = new WatchThread(clock);
    this.unwatchedSinceNanos = clock.nanos();
  }

  /** Starts the watchers' thread. On any thread. */
  public void start() {
    thread.start();
  }

  /** Ends it. On any thread. */
  public void stop() {
    thread.stop();
  }

  public int size() {
    return watches.size();
  }

  /**
   * Starts a watch; the listener is refused if that can't be. On any thread.
   *
   * @param startRevision the last revision that the watcher has seen, zero for a snapshot
   */
  public WatchHandle watch(WatchFilter filter, long startRevision, WatchListener listener) {
    Watch watch = new Watch(filter, listener, this);
    loop.accept(new AwaitedTask(() -> add(watch, startRevision), why -> refuse(watch, why)));
    return watch;
  }

  private void add(Watch watch, long startRevision) {
    if (watches.size() >= maxWatches) {
      refuse(
          watch,
          Failure.Reason.TOO_MANY,
          "the coordinator serves its limit of " + maxWatches + " watches");
    } else if (!kernel.mirrorIsCurrent()) {
      refuse(
          watch,
          Failure.Reason.UNAVAILABLE,
          "the coordinator's mirror of the queues is being rebuilt");
    } else {
      watches.add(watch);
      kernel.describeChanges(true);
      thread.execute(rounds -> rounds.add(watch));
      begin(watch, startRevision);
    }
  }

  private void begin(Watch watch, long startRevision) {
    if (startRevision == 0) {
      thread.execute(rounds -> watch.begin());
      return;
    }
    Optional<List<LockChange>> missed = history.since(startRevision);
    if (missed.isPresent()) {
      List<WatchedChange> changes = told(missed.get(), watch.filter());
      long current = number;
      thread.execute(rounds -> watch.resume(changes, current));
    } else {
      String reason =
          "revision " + startRevision + " is older than what this coordinator remembers";
      thread.execute(rounds -> watch.restart(reason));
    }
  }

  private List<WatchedChange> told(List<LockChange> missed, WatchFilter filter) {
    List<LockChange> wanted = missed.stream().filter(c -> filter.matches(c.lock())).toList();
    boolean described = wanted.stream().noneMatch(LockChange::isUndescribed);
    return (described ? wanted : asTheyAre(wanted))
        .stream().map(change -> new WatchedChange(change, number)).toList();
  }

  /** What was not described while nobody watched: one change for each lock, as it is now. */
  private List<LockChange> asTheyAre(List<LockChange> missed) {
    NewestChanges newest = new NewestChanges();
    missed.forEach(change -> newest.add(new WatchedChange(change, number)));
    return newest.all().stream().map(WatchedChange::change).map(this::asItIs).toList();
  }

  private LockChange asItIs(LockChange change) {
    LockView view = view(change.lock());
    return new LockChange(
        change.revision(),
        change.lock(),
        LockChange.Cause.SEVERAL,
        Optional.empty(),
        view.holders(),
        view.queueLength(),
        Math.max(2, change.coalesced()));
  }

  private LockView view(LockName lock) {
    return kernel.lock(lock, 0, clock.nanos());
  }

  private void refuse(Watch watch, Failure.Reason reason, String message) {
    refuse(watch, new RefusedException(new Failure(reason, message)));
  }

  private void refuse(Watch watch, RefusedException why) {
    thread.execute(
        rounds -> {
          rounds.remove(watch);
          watch.refuse(why);
        });
  }

  /** Ends all watches. */
  public void refuseAll(RefusedException why) {
    watches.forEach(watch -> refuse(watch, why));
    watches.clear();
  }

  @Override
  public void wake(Watch watch) {
    thread.execute(rounds -> rounds.wake(watch));
  }

  @Override
  public void read(Watch watch, List<LockName> names, Consumer<Watch.Part> answer) {
    loop.accept(
        () -> {
          if (watches.contains(watch)) {
            List<LockName> wanted = names.isEmpty() ? inUse(watch.filter()) : names;
            int read = Math.min(Watch.PART_LOCKS, wanted.size());
            List<LockName> now = wanted.subList(0, read);
            List<LockName> later = wanted.subList(read, wanted.size());
            var unused =
                reader.apply(now).handle((known, cause) -> part(watch, now, later, answer));
          }
        });
  }

  /** Whoever holds has been read, on the loop, if that was possible. */
  private Optional<Watch.Part> part(
      Watch watch, List<LockName> now, List<LockName> later, Consumer<Watch.Part> answer) {
    if (!watches.contains(watch)) {
      return Optional.empty();
    }
    List<LockView> locks = now.stream().map(this::view).map(LockView::named).toList();
    Watch.Part part = new Watch.Part(locks, later, kernel.revision(), number);
    thread.execute(rounds -> answer.accept(part));
    return Optional.of(part);
  }

  private List<LockName> inUse(WatchFilter filter) {
    return filter.names().isEmpty()
        ? kernel.names(filter.prefix())
        : filter.names().stream().sorted().toList();
  }

  @Override
  public void end(Watch watch) {
    loop.accept(
        () -> {
          if (watches.remove(watch)) {
            unwatchedSinceNanos = clock.nanos();
            thread.execute(rounds -> rounds.remove(watch));
          }
        });
  }

  /** Tells the watchers of a change at the end of the batch that brings it. */
  public void publish(LockChange change) {
    history.add(change);
    number++;
    if (!watches.isEmpty()) {
      batch.add(new WatchedChange(change, number));
    }
  }

  /** Ends a batch: hands over what was published in it. */
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
      kernel.describeChanges(false);
    }
  }

  /** The mirror was out of touch and is whole again. */
  public void gap(String reason) {
    history.clear(kernel.revision());
    thread.execute(rounds -> rounds.gap(reason));
  }
}
