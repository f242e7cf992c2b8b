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
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The event loop's side of watching: takes the changes, remembers the newest, and hands them to the
 * {@link WatchThread} once a batch. On the event loop only, unless a method says otherwise.
 */
public final class WatchHub implements Watch.Source {

  /** What is said of changes that nobody has counted: at least as many. */
  private static final int SEVERAL = 2;

  private static final Logger LOG = LoggerFactory.getLogger(WatchHub.class);

  private final int maxWatches;
  private final Consumer<Runnable> loop;
  private final Function<List<LockName>, CompletableFuture<Answer.LocksShown>> reader;
  private final Consumer<ClientEvent> core;
  private final Kernel kernel;
  private final WatchThread thread;
  private final Set<Watch> watches = new LinkedHashSet<>();
  private final WatchHistory history = new WatchHistory();
  private List<WatchedChange> batch = new ArrayList<>();
  private long number;

  /**
   * Makes a hub.
   *
   * @param loop runs a task on the event loop; may be called on any thread
   * @param reader shows locks in their turn among the changes that are published; answers on the
   *     loop
   * @param core hears of watches that begin and end; on the loop
   * @param kernel what watchers see
   */
  public WatchHub(
      int maxWatches,
      Consumer<Runnable> loop,
      Function<List<LockName>, CompletableFuture<Answer.LocksShown>> reader,
      Consumer<ClientEvent> core,
      Kernel kernel,
      CoordinatorClock clock) {
    this.reader = reader;
    this.maxWatches = maxWatches;
    this.loop = loop;
    this.core = core;
    this.kernel = kernel;
    this.thread = new WatchThread(clock);
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
      core.accept(new ClientEvent.WatchBegan(watch.filter().names(), watch.filter().prefix()));
      thread.execute(rounds -> rounds.add(watch));
      if (startRevision == 0) {
        thread.execute(rounds -> watch.begin());
      } else {
        resume(watch, startRevision, new HashMap<>());
      }
    }
  }

  /**
   * Goes on where another watch ended.
   *
   * @param seen locks as they were after their newest change, where that was not described
   */
  private void resume(Watch watch, long startRevision, Map<LockName, LockView> seen) {
    if (!watches.contains(watch)) {
      return;
    }
    Optional<List<LockChange>> missed = history.since(startRevision);
    if (missed.isEmpty()) {
      String reason =
          "revision " + startRevision + " is older than what this coordinator remembers";
      thread.execute(rounds -> watch.restart(reason));
      return;
    }
    List<LockChange> wanted =
        missed.get().stream().filter(c -> watch.filter().matches(c.lock())).toList();
    Map<LockName, LockChange> newest = new LinkedHashMap<>();
    wanted.forEach(change -> newest.put(change.lock(), change));
    List<LockName> unseen =
        newest.values().stream()
            .filter(LockChange::isUndescribed)
            .map(LockChange::lock)
            .filter(lock -> !seen.containsKey(lock))
            .toList();
    if (unseen.isEmpty()) {
      List<WatchedChange> changes = told(wanted, newest, seen);
      long current = number;
      thread.execute(rounds -> watch.resume(changes, current));
    } else {
      show(
          watch,
          unseen,
          shown -> {
            shown.locks().forEach(lock -> seen.put(lock.lock(), lock));
            // What the core wants done besides comes first.
            loop.accept(() -> resume(watch, startRevision, seen));
          });
    }
  }

  /** What was not described while nobody watched is told as one change for each lock. */
  private List<WatchedChange> told(
      List<LockChange> wanted, Map<LockName, LockChange> newest, Map<LockName, LockView> seen) {
    if (wanted.stream().noneMatch(LockChange::isUndescribed)) {
      return wanted.stream().map(change -> new WatchedChange(change, number)).toList();
    }
    NewestChanges coalesced = new NewestChanges();
    wanted.forEach(change -> coalesced.add(new WatchedChange(change, number)));
    return coalesced.all().stream()
        .map(
            change ->
                Objects.requireNonNull(newest.get(change.change().lock())).isUndescribed()
                    ? new WatchedChange(asItWas(change.change(), seen), number)
                    : change)
        .toList();
  }

  private static LockChange asItWas(LockChange change, Map<LockName, LockView> seen) {
    LockView view = Objects.requireNonNull(seen.get(change.lock()));
    return new LockChange(
        change.revision(),
        change.lock(),
        LockChange.Cause.SEVERAL,
        Optional.empty(),
        view.holders(),
        view.queueLength(),
        Math.max(SEVERAL, change.coalesced()));
  }

  /**
   * Has locks shown, in their turn among the changes; {@code then} runs on the loop unless the
   * watch has ended. One that cannot be served ends, rather than wait for ever.
   */
  private void show(Watch watch, List<LockName> locks, Consumer<Answer.LocksShown> then) {
    var unused =
        reader
            .apply(locks)
            .thenAccept(
                shown -> {
                  if (watches.contains(watch)) {
                    then.accept(shown);
                  }
                })
            .whenComplete(
                (done, cause) -> {
                  if (cause != null) {
                    fail(watch, cause);
                  }
                });
  }

  private void fail(Watch watch, Throwable cause) {
    if (!forget(watch)) {
      return;
    }
    Throwable reason = cause instanceof CompletionException ? cause.getCause() : cause;
    if (reason instanceof RefusedException refused) {
      refuse(watch, refused);
    } else {
      LOG.atError().setCause(cause).log("a watch could not be served");
      refuse(watch, Failure.Reason.UNAVAILABLE, "the watch could not be served: begin it again");
    }
  }

  private boolean forget(Watch watch) {
    boolean there = watches.remove(watch);
    if (there) {
      core.accept(new ClientEvent.WatchEnded(watch.filter().names(), watch.filter().prefix()));
    }
    return there;
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
            show(watch, now, shown -> answer(shown, later, answer));
          }
        });
  }

  private void answer(Answer.LocksShown shown, List<LockName> later, Consumer<Watch.Part> answer) {
    // The changes that it contains are with the watchers' thread before it.
    flush();
    Watch.Part part = new Watch.Part(shown.locks(), later, shown.revision(), number);
    thread.execute(rounds -> answer.accept(part));
  }

  private List<LockName> inUse(WatchFilter filter) {
    return filter.names().isEmpty()
        ? kernel.occupied(filter.prefix()).toList()
        : filter.names().stream().sorted().toList();
  }

  @Override
  public void end(Watch watch) {
    loop.accept(
        () -> {
          if (forget(watch)) {
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

  /** The mirror was out of touch and is whole again. */
  public void gap(String reason) {
    history.clear(kernel.revision());
    thread.execute(rounds -> rounds.gap(reason));
  }
}
