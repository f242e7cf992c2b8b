package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.Answer;
import io.lockkeeper.server.core.CallId;
import io.lockkeeper.server.core.CoreCounts;
import io.lockkeeper.server.core.Effect;
import io.lockkeeper.server.core.Event;
import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.LifeEvent;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.Mode;
import io.lockkeeper.server.core.PathSizes;
import io.lockkeeper.server.core.StoreEvent;
import io.lockkeeper.server.core.TimeEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs the core: brings events to it on the event loop, tells it the time, carries its effects out.
 */
final class CoreRunner implements EventLoop.Turns {

  private static final long STATUS_NANOS = 200_000_000L;
  private static final long WATCHDOG_PERIOD_MILLIS = 1_000;
  private static final int WATCHDOG_PATIENCE = 10;

  private final LockStore store;
  private final Kernel kernel;
  private final EventLoop loop;
  private final Watchdog watchdog;
  private final Streams streams = new Streams();
  private final Calls calls = new Calls();
  private final DetailReads detailReads;
  private final WatchHub watches;
  private final Effects effects;
  private final CoordinatorObserver observer;
  private volatile CoordinatorStatus status =
      new CoordinatorStatus(false, List.of(), 0, 0, 0, 0, 0, 0, 0, 0, 0);
  private volatile long loopDelayNanos;
  private long statusAtNanos;
  private List<Peer> peers = List.of();
  private Consumer<List<Peer>> peerListener = found -> {};

  CoreRunner(
      LockStore store,
      CoordinatorSettings settings,
      CoordinatorObserver observer,
      Runnable onHang) {
    this.store = store;
    this.observer = observer;
    this.kernel = new Kernel(settings.core(), new StorePathSizes(store));
    this.loop = new EventLoop(this, System::nanoTime);
    this.watchdog = new Watchdog(loop::turnCount, WATCHDOG_PATIENCE, onHang);
    this.detailReads = new DetailReads(store);
    this.watches = new WatchHub(settings.maxWatches(), this::post, new MirroredLocks(kernel));
    this.effects = new Effects(store, streams, calls, watches, observer);
  }

  private record StorePathSizes(LockStore store) implements PathSizes {
    @Override
    public int entryBytes(LockName lock, Mode mode) {
      return store.pathBytes(lock, mode);
    }

    @Override
    public int leaseBytes() {
      return store.leasePathBytes();
    }
  }

  void start() {
    watches.startDesk();
    statusAtNanos = now() - STATUS_NANOS;
    loop.start();
    watchdog.start(WATCHDOG_PERIOD_MILLIS);
    loop.post(
        () -> {
          store.start(new Gathering<>(events -> loop.post(() -> onStoreEvents(events))));
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
      awaitSettled(grace);
    } finally {
      watchdog.stop();
      watches.stopDesk();
      loop.stop(WATCHDOG_PERIOD_MILLIS);
    }
  }

  /** See {@link LoopCoordinator#leave}. */
  void leave(Duration grace) throws InterruptedException {
    if (loop.isAlive()) {
      loop.post(() -> handle(new LifeEvent.Draining()));
      awaitSettled(grace);
      loop.post(store::leave);
    }
  }

  private void awaitSettled(Duration grace) throws InterruptedException {
    CompletableFuture<Void> settled = new CompletableFuture<>();
    awaitSettled(settled, now() + grace.toNanos());
    try {
      settled.get(grace.toMillis() + WATCHDOG_PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
      throw new IllegalStateException("the event loop does not answer", e);
    }
  }

  private void awaitSettled(CompletableFuture<Void> settled, long deadlineNanos) {
    loop.post(
        () -> {
          if (kernel.counts(now()).deletesOwed() == 0 || now() - deadlineNanos >= 0) {
            settled.complete(null);
          } else {
            CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS)
                .execute(() -> awaitSettled(settled, deadlineNanos));
          }
        });
  }

  long now() {
    return System.nanoTime();
  }

  LockStore store() {
    return store;
  }

  Kernel kernel() {
    return kernel;
  }

  Streams streams() {
    return streams;
  }

  void post(Runnable task) {
    loop.post(task);
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
    perform(kernel.on(event, now()));
  }

  private void onPeers(List<Peer> found) {
    peers = found;
    handle(new LifeEvent.PeersSeen(found.size()));
    peerListener.accept(found);
  }

  /**
   * Says who hears of the other coordinators, from those that are known now on. On the loop only.
   */
  void watchPeers(Consumer<List<Peer>> listener) {
    peerListener = listener;
    listener.accept(peers);
  }

  private void onStoreEvents(List<StoreEvent> events) {
    events.forEach(event -> EventLoop.runSafely(() -> onStoreEvent(event)));
  }

  private void onStoreEvent(StoreEvent event) {
    handle(event);
    if (event instanceof StoreEvent.DetailsRead read) {
      detailReads.onRead(read.lock(), read.entry());
    }
  }

  private void perform(List<Effect> wanted) {
    wanted.forEach(effect -> effect.applyTo(effects));
  }

  /**
   * Runs {@code then} when as much as can be is known of the entries that a view would show. On the
   * loop only.
   */
  void whenDescribed(LockName lock, int queueLimit, Runnable then) {
    detailReads.read(lock, kernel.undescribed(lock, queueLimit), now(), then);
  }

  WatchHandle watch(WatchFilter filter, long startRevision, WatchListener listener) {
    Watch watch = new Watch(filter, listener, watches);
    post(() -> watches.start(watch, startRevision, kernel.mirrorIsCurrent()));
    return new WatchHandle() {
      @Override
      public void ready() {
        watches.wake(watch);
      }

      @Override
      public void close() {
        post(() -> watches.stop(watch));
      }
    };
  }

  @Override
  public void onStalled(long nanos) {
    observer.onStalled(nanos);
    handle(new TimeEvent.Stalled(nanos));
  }

  @Override
  public void onTurn() {
    long now = now();
    if (kernel.nextDeadline().isPresent() && kernel.nextDeadline().getAsLong() - now <= 0) {
      handle(new TimeEvent.Tick());
    }
    watches.flush();
    calls.expire(now);
    detailReads.expire(now);
    if (now - statusAtNanos >= STATUS_NANOS) {
      statusAtNanos = now;
      watches.rest(now);
      status = describe(now);
      measureDelay(now);
    }
  }

  /** Measures how long an event waits before it is handled. */
  private void measureDelay(long postedAtNanos) {
    post(() -> loopDelayNanos = now() - postedAtNanos);
  }

  @Override
  public long nextTurnNanos() {
    return kernel.nextDeadline().orElse(now() + STATUS_NANOS);
  }

  CoordinatorStatus status() {
    return status;
  }

  private CoordinatorStatus describe(long nowNanos) {
    CoreCounts counts = kernel.counts(nowNanos);
    return new CoordinatorStatus(
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
        loopDelayNanos);
  }
}
