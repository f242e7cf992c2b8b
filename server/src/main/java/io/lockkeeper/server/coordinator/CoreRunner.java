package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.FatalFailure;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.StoreHealth;
import io.lockkeeper.server.coordinator.serial.AwaitedTask;
import io.lockkeeper.server.coordinator.serial.BatchConsumer;
import io.lockkeeper.server.coordinator.serial.EventLoop;
import io.lockkeeper.server.coordinator.serial.FailStop;
import io.lockkeeper.server.coordinator.serial.FailedStepException;
import io.lockkeeper.server.coordinator.serial.Listeners;
import io.lockkeeper.server.coordinator.serial.Watchdog;
import io.lockkeeper.server.coordinator.watch.WatchHub;
import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Event;
import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.QueueExtremes;
import io.lockkeeper.server.core.api.TimeEvent;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the core: brings events to it on the event loop, tells it the time, carries its effects out.
 *
 * <p>Fails for good when the core throws, or the carrying out of one of its effects, or the store:
 * then nothing is done any more, and the process should end. To go on would mean to decide on a
 * state that is half changed, and to forget effects that were decided, a deletion perhaps.
 * ZooKeeper has what another coordinator needs to go on.
 */
final class CoreRunner implements EventLoop.BatchListener {

  private static final Logger LOG = LoggerFactory.getLogger(CoreRunner.class);
  private static final long STATUS_NANOS = 200_000_000L;
  private static final long EXTREMES_NANOS = 2_000_000_000L;
  private static final long WATCHDOG_PERIOD_MILLIS = 1_000;
  private static final int WATCHDOG_PATIENCE = 10;

  private final LockStore store;
  private final CoordinatorClock clock;
  private final Kernel kernel;
  private final EventLoop loop;
  private final Watchdog watchdog;
  private final NoticeStreams streams = new NoticeStreams();
  private final PendingCalls calls = new PendingCalls();
  private final WatchHub watches;
  private final EffectRunner effects;
  private final CoordinatorObserver observer;
  private final FailStop failStop;
  private final CleanupWait cleanupWait;
  private volatile CoordinatorStatus status =
      new CoordinatorStatus(
          false,
          false,
          false,
          List.of(),
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          StoreHealth.WELL,
          QueueExtremes.NONE,
          1);
  private volatile long loopDelayNanos;
  private long statusAtNanos;
  private long extremesAtNanos;
  private QueueExtremes extremes = QueueExtremes.NONE;
  private List<Peer> peers = List.of();
  private Consumer<List<Peer>> peerListener = found -> {};

  CoreRunner(
      LockStore store,
      CoordinatorSettings settings,
      CoordinatorObserver observer,
      Consumer<FatalFailure> onBreakdown,
      CoordinatorClock clock) {
    this.store = store;
    this.clock = clock;
    this.observer = observer;
    this.failStop = new FailStop(onBreakdown);
    this.kernel = new Kernel(settings.core(), new StorePathSizes(store));
    this.loop = new EventLoop(this, clock);
    this.cleanupWait = new CleanupWait(loop, () -> kernel.counts(now()).deletesOwed() == 0);
    this.watchdog = new Watchdog(loop::batchCount, WATCHDOG_PATIENCE, failStop::onHang);
    this.watches =
        new WatchHub(
            settings.maxWatches(), this::post, this::showToWatch, this::handle, kernel, clock);
    this.effects = new EffectRunner(store, streams, calls, watches, observer);
  }

  void start() {
    watches.start();
    statusAtNanos = now() - STATUS_NANOS;
    extremesAtNanos = now() - EXTREMES_NANOS;
    loop.start();
    watchdog.start(WATCHDOG_PERIOD_MILLIS);
    loop.post(
        () -> {
          store.start(
              new BatchConsumer<>(events -> loop.post(() -> events.forEach(this::handle))),
              cause -> loop.fail(new FailedStepException("a task of the store", cause)));
          store.watchPeers(found -> loop.post(() -> onPeers(found)));
          perform(kernel.start(now()));
        });
  }

  /**
   * Ends the loop once what must be deleted is gone, or after {@code grace}; does nothing if it was
   * never started.
   */
  void stop(Duration grace) throws InterruptedException {
    if (!loop.isAlive()) {
      return;
    }
    try {
      cleanupWait.await(grace);
    } finally {
      watchdog.stop();
      watches.stop();
      loop.stop(WATCHDOG_PERIOD_MILLIS);
    }
  }

  /** See {@link LoopCoordinator#leave}. */
  void leave(Duration grace) throws InterruptedException {
    if (loop.isAlive() && !loop.hasFailed()) {
      loop.post(() -> handle(new LifecycleEvent.Draining()));
      cleanupWait.await(grace);
      loop.post(
          () -> {
            handle(new LifecycleEvent.Leaving());
            store.leave();
          });
    }
  }

  long now() {
    return clock.nanos();
  }

  LockStore store() {
    return store;
  }

  Kernel kernel() {
    return kernel;
  }

  CoordinatorObserver observer() {
    return observer;
  }

  NoticeStreams streams() {
    return streams;
  }

  WatchHub watches() {
    return watches;
  }

  void post(Runnable task) {
    loop.post(task);
  }

  /** Posts a task on whose outcome somebody waits, who is told if it is never run. */
  void post(Runnable task, Consumer<RefusedException> refuse) {
    loop.post(new AwaitedTask(task, refuse));
  }

  void together(Runnable posts) {
    loop.together(posts);
  }

  int backlog() {
    return loop.backlog();
  }

  /** Registers a caller. On the loop only. */
  CallId expect(CompletableFuture<Answer> answer) {
    return calls.add(answer, now());
  }

  /** Gives an event to the core. On the loop only. */
  void handle(Event event) {
    handle(event, now());
  }

  private void handle(Event event, long now) {
    try {
      perform(kernel.on(event, now));
    } catch (RuntimeException | Error e) {
      throw FailedStepException.of(event, e);
    }
  }

  private CompletableFuture<Answer.LocksShown> showToWatch(List<LockName> locks) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    handle(new ClientEvent.WatchLocks(expect(answer), locks));
    return answer.thenApply(Answer.LocksShown.class::cast);
  }

  private void onPeers(List<Peer> found) {
    peers = found;
    tellPeers();
  }

  private void tellPeers() {
    Listeners.tell(() -> peerListener.accept(peers));
  }

  /**
   * Says who hears of the other coordinators, from those that are known now on. On the loop only.
   */
  void watchPeers(Consumer<List<Peer>> listener) {
    peerListener = listener;
    tellPeers();
  }

  private void perform(List<Effect> wanted) {
    wanted.forEach(effect -> effect.applyTo(effects));
  }

  @Override
  public void onStalled(long nanos) {
    LOG.atWarn()
        .addKeyValue("millis", TimeUnit.NANOSECONDS.toMillis(nanos))
        .log(
            "the process stood still: a garbage collection, no processor to run on, a signal STOP, or a suspended machine");
    Listeners.tell(() -> observer.onStalled(nanos));
    handle(new TimeEvent.Stalled(nanos));
  }

  @Override
  public void onClockStopped(long nanos) {
    LOG.atWarn()
        .addKeyValue("millis", TimeUnit.NANOSECONDS.toMillis(nanos))
        .log("the machine was suspended, or its wall clock was set forward");
    Listeners.tell(() -> observer.onStalled(nanos));
    // Leases are counted on the clock that stood still: they get no time back.
    handle(new TimeEvent.Stalled(0));
  }

  @Override
  public void onBatchEnd(long now) {
    if (kernel.nextDeadline().isPresent() && kernel.nextDeadline().getAsLong() - now <= 0) {
      handle(new TimeEvent.Tick(), now);
    }
    watches.flush();
    calls.expire(now);
    if (now - statusAtNanos >= STATUS_NANOS) {
      statusAtNanos = now;
      lookAtQueues(now);
      status = describe(now);
      measureDelay(now);
    }
  }

  /** All queues take their time: they are looked at more seldom, and some at a time. */
  private void lookAtQueues(long now) {
    if (now - extremesAtNanos >= EXTREMES_NANOS) {
      Optional<QueueExtremes> all = kernel.lookAtQueues(now);
      if (all.isPresent()) {
        extremesAtNanos = now;
        extremes = all.get();
      }
    }
  }

  /** Measures how long an event waits before it is handled. */
  private void measureDelay(long postedAtNanos) {
    post(() -> loopDelayNanos = now() - postedAtNanos);
  }

  @Override
  public long nextBatchNanos() {
    return kernel.nextDeadline().orElse(now() + STATUS_NANOS);
  }

  @Override
  public void onFailed(Throwable cause) {
    failStop.onThrown(cause);
    // The process lives on, as its owner wants it. Where that threw, the watchdog is still there.
    watchdog.stop();
  }

  @Override
  public void onAbandoned() {
    RefusedException why = AwaitedTask.over();
    calls.refuseAll(why);
    streams.endAll(why);
    watches.refuseAll(why);
  }

  /** Returns whether nothing runs any more because the state is in doubt. */
  boolean hasFailed() {
    return loop.hasFailed();
  }

  CoordinatorStatus status() {
    CoordinatorStatus latest = status;
    return loop.hasFailed() ? latest.afterFailure() : latest;
  }

  private CoordinatorStatus describe(long nowNanos) {
    CoreCounts counts = kernel.counts(nowNanos);
    return new CoordinatorStatus(
        false,
        kernel.core.draining,
        counts.mirrorCurrent(),
        counts.sessions().stream()
            .map(
                s ->
                    new CoordinatorStatus.SessionStatus(
                        s.key().toString(), s.provenAlive(), s.sure(), s.pathBytes(), s.leases()))
            .toList(),
        counts.leases(),
        counts.acquisitions(),
        counts.held(),
        counts.locks(),
        counts.entries(),
        watches.size(),
        streams.size(),
        counts.deletesOwed(),
        loopDelayNanos,
        store.health(),
        extremes,
        peers.size() + 1);
  }
}
