package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.ChosenSecret;
import io.lockkeeper.server.coordinator.api.ClusterView;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorClock;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.FatalFailure;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockHistory;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.StreamTarget;
import io.lockkeeper.server.coordinator.api.VisibleLocks;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LifecycleEvent;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;

/** The coordinator: runs the core on one event loop and brings requests to it and answers back. */
public final class LoopCoordinator implements Coordinator {

  private final CoreRunner runner;
  private final Inbox inbox;
  private final Queries queries;
  private final Secrets secrets;
  private final AtomicLong streamIds;
  private final Caller caller;
  private final Draining draining;

  /** Makes a coordinator that goes by the system's clock. */
  public LoopCoordinator(
      LockStore store,
      CoordinatorSettings settings,
      CoordinatorObserver observer,
      Consumer<FatalFailure> onBreakdown) {
    this(store, settings, observer, onBreakdown, CoordinatorClock.SYSTEM);
  }

  /**
   * Makes a coordinator on a store that has not been started.
   *
   * @param onBreakdown what to do when the coordinator cannot go on while the process lives: end it
   *     without closing anything, before it keeps locks alive that nobody serves. Called once for
   *     each reason at most, on the thread that finds out. Where it returns, everybody who waits
   *     for something is refused with {@code UNAVAILABLE}, the streams of leases are sent away, and
   *     so is whoever comes later; the ZooKeeper sessions stay as they are
   * @param clock what its leases, waits and proofs go by
   */
  public LoopCoordinator(
      LockStore store,
      CoordinatorSettings settings,
      CoordinatorObserver observer,
      Consumer<FatalFailure> onBreakdown,
      CoordinatorClock clock) {
    HoldHistory history = new HoldHistory(clock::nanos);
    this.runner = new CoreRunner(store, settings, observer.and(history), onBreakdown, clock);
    this.inbox = new Inbox(runner, settings.maxQueuedRequests());
    this.queries = new Queries(runner, inbox, history);
    this.secrets = new Secrets();
    this.streamIds = new AtomicLong();
    this.caller = Caller.ANYBODY;
    this.draining = new Draining(runner);
  }

  private LoopCoordinator(LoopCoordinator whole, Caller caller) {
    this.runner = whole.runner;
    this.inbox = whole.inbox;
    this.queries = whole.queries;
    this.secrets = whole.secrets;
    this.streamIds = whole.streamIds;
    this.caller = caller;
    this.draining = whole.draining;
  }

  @Override
  public Coordinator by(Caller other) {
    return new LoopCoordinator(this, other);
  }

  /** Starts the loop and the store. Called once. */
  public void start() {
    runner.start();
  }

  /**
   * Leaves: takes nothing new, waits until everything that was to be deleted is gone, at most
   * {@code grace}, and gives all leases to whichever peers adopt them. The streams of leases are
   * sent away.
   */
  public void leave(Duration grace) throws InterruptedException {
    runner.leave(grace);
  }

  /** Returns whether the coordinator does nothing any more because its state is in doubt. */
  public boolean hasFailed() {
    return runner.hasFailed();
  }

  /**
   * Waits until everything that was to be deleted is gone, at most {@code grace}, and ends the
   * loop. The store is not stopped. One that has failed waits for nothing.
   */
  public void stop(Duration grace) throws InterruptedException {
    runner.stop(grace);
  }

  /** Asks the core something that it answers with an {@code A}. */
  private <A extends Answer> CompletableFuture<A> ask(
      Class<A> type, Function<CallId, ClientEvent> request) {
    return inbox.ask(caller, request).thenApply(type::cast);
  }

  @Override
  public CompletableFuture<OpenedLease> openLease(
      Duration ttl, String holder, Optional<String> chosen) {
    LeaseId id = chosen.map(ChosenSecret::leaseId).orElseGet(secrets::leaseId);
    String secret = chosen.orElseGet(secrets::secret);
    return ask(
            Answer.LeaseOpened.class,
            call -> new ClientEvent.OpenLease(call, id, Secrets.hash(secret), ttl, holder))
        .thenApply(answer -> new OpenedLease(answer, secret));
  }

  @Override
  public Attachment attach(LeaseId lease, String secret, SessionListener listener) {
    StreamId stream = new StreamId(streamIds.incrementAndGet());
    CompletableFuture<Answer.LeaseAttached> attached =
        ask(
                Answer.LeaseAttached.class,
                call -> {
                  runner.streams().add(stream, new StreamTarget.OfLease(listener));
                  return new ClientEvent.AttachLease(call, lease, Secrets.hash(secret), stream);
                })
            .whenComplete(
                (answer, refused) -> {
                  if (refused != null) {
                    closeStream(stream, false);
                  }
                });
    return new LeaseAttachment(lease, stream, listener, attached);
  }

  /** A lease's stream. */
  private final class LeaseAttachment implements Attachment {
    private final LeaseId lease;
    private final StreamId stream;
    private final SessionListener listener;
    private final CompletableFuture<Answer.LeaseAttached> attached;

    LeaseAttachment(
        LeaseId lease,
        StreamId stream,
        SessionListener listener,
        CompletableFuture<Answer.LeaseAttached> attached) {
      this.lease = lease;
      this.stream = stream;
      this.listener = listener;
      this.attached = attached;
    }

    @Override
    public CompletableFuture<Answer.LeaseAttached> attached() {
      return attached;
    }

    @Override
    public void acquire(AcquireCommand command) {
      UUID id = secrets.acquisitionId(lease);
      AcquireCommand wanted = runner.observer().onRequested(id, command.under(lease));
      inbox.submit(
          caller,
          () -> new ClientEvent.Acquire(stream, id, lease, wanted, true),
          refusal -> listener.onRefused(command.requestId(), refusal));
    }

    @Override
    public void detach() {
      closeStream(stream, false);
    }
  }

  private void closeStream(StreamId stream, boolean cancelled) {
    runner.post(
        () -> {
          runner.streams().remove(stream);
          runner.handle(new ClientEvent.StreamClosed(stream, cancelled));
        });
  }

  @Override
  public CompletableFuture<Answer> keepAlive(LeaseId lease) {
    return inbox.ask(caller, call -> new ClientEvent.KeepAlive(call, lease));
  }

  @Override
  public CompletableFuture<Answer.LeaseClosed> closeLease(LeaseId lease) {
    return ask(Answer.LeaseClosed.class, call -> new ClientEvent.CloseLease(call, lease));
  }

  @Override
  public Subscription acquire(AcquireCommand command, AcquisitionListener listener) {
    StreamId stream = new StreamId(streamIds.incrementAndGet());
    LeaseId lease = command.lease().orElseGet(secrets::leaseId);
    UUID id = secrets.acquisitionId(lease);
    AcquireCommand wanted = runner.observer().onRequested(id, command);
    inbox.submit(
        caller,
        () -> {
          runner.streams().add(stream, new StreamTarget.OfAcquisition(listener));
          return new ClientEvent.Acquire(stream, id, lease, wanted, false);
        },
        listener::onRefused);
    return cancelled -> closeStream(stream, cancelled);
  }

  @Override
  public CompletableFuture<Answer.ReleaseDone> release(
      LeaseId lease, String requestId, long token) {
    return ask(
        Answer.ReleaseDone.class, call -> new ClientEvent.Release(call, lease, requestId, token));
  }

  @Override
  public CompletableFuture<Answer.ReleaseAsked> requestRelease(
      LockName lock, String requester, String reason, Optional<Duration> deadline) {
    RevocationRequest wish =
        new RevocationRequest(secrets.askId(), requester, reason, deadline, false);
    return ask(Answer.ReleaseAsked.class, call -> new ClientEvent.RequestRelease(call, lock, wish));
  }

  @Override
  public CompletableFuture<Answer.Forced> forceRelease(
      LockName lock, long token, String requester, String reason, Optional<Duration> grace) {
    RevocationRequest wish = new RevocationRequest(secrets.askId(), requester, reason, grace, true);
    return ask(Answer.Forced.class, call -> new ClientEvent.ForceRelease(call, lock, token, wish));
  }

  @Override
  public CompletableFuture<Answer.Described> answerRelease(
      LeaseId lease, String requestId, Duration needs) {
    return ask(
        Answer.Described.class,
        call -> new ClientEvent.AnswerRelease(call, lease, requestId, needs));
  }

  @Override
  public CompletableFuture<Answer.Described> updateMetadata(
      LeaseId lease, String requestId, Map<String, String> metadata) {
    return ask(
        Answer.Described.class,
        call -> new ClientEvent.UpdateMetadata(call, lease, requestId, metadata));
  }

  @Override
  public CompletableFuture<Answer.LimitSet> configureLock(LockName lock, OptionalInt limit) {
    return ask(Answer.LimitSet.class, call -> new ClientEvent.ConfigureLock(call, lock, limit));
  }

  @Override
  public CompletableFuture<Answer.FreezeChanged> freeze(Freeze freeze) {
    return ask(Answer.FreezeChanged.class, call -> new ClientEvent.Freeze(call, freeze));
  }

  @Override
  public CompletableFuture<Answer.FreezeChanged> unfreeze(String prefix) {
    return ask(Answer.FreezeChanged.class, call -> new ClientEvent.Unfreeze(call, prefix));
  }

  @Override
  public CompletableFuture<Answer.LeaseClosed> forceCloseLease(LeaseName lease, String reason) {
    return ask(
        Answer.LeaseClosed.class, call -> new ClientEvent.ForceCloseLease(call, lease, reason));
  }

  @Override
  public CompletableFuture<Integer> drain(Duration grace) {
    return draining.begin(grace);
  }

  @Override
  public CompletableFuture<ClusterView> cluster() {
    return queries.cluster();
  }

  @Override
  public CompletableFuture<Notice.Position> position(LeaseId lease, String requestId) {
    return ask(
            Answer.PositionTold.class,
            call -> new ClientEvent.QueryPosition(call, lease, requestId))
        .thenApply(Answer.PositionTold::told);
  }

  @Override
  public CompletableFuture<LockHistory> history(LockName lock, int limit) {
    return queries.history(lock, limit);
  }

  @Override
  public CompletableFuture<LockView> getLock(LockName lock, int queueLimit) {
    return queries.getLock(lock, queueLimit);
  }

  @Override
  public CompletableFuture<LockPage> listLocks(
      String prefix, Optional<LockName> after, int limit, VisibleLocks visible) {
    return queries.listLocks(prefix, after, limit, visible);
  }

  @Override
  public CompletableFuture<TokenCheck> checkToken(LockName lock, long token) {
    return ask(Answer.TokenChecked.class, call -> new ClientEvent.CheckToken(call, lock, token))
        .thenApply(
            checked ->
                new TokenCheck(
                    checked.current(), checked.tokens().stream().map(t -> t.value()).toList()));
  }

  @Override
  public CompletableFuture<LeaseView> getLease(LeaseId lease, int limit) {
    return queries.getLease(caller, lease, limit);
  }

  @Override
  public CompletableFuture<List<LeaseView>> listLeases(String afterTag, int limit) {
    return queries.listLeases(caller, afterTag, limit);
  }

  @Override
  public WatchHandle watch(WatchFilter filter, long startRevision, WatchListener listener) {
    return runner.watches().watch(filter, startRevision, listener);
  }

  @Override
  public CompletableFuture<LeaseLocation> locate(LeaseId lease) {
    return queries.locate(lease);
  }

  @Override
  public void suspect(String id) {
    runner.post(() -> runner.store().suspect(id));
  }

  @Override
  public void peersServing(int others) {
    runner.post(() -> runner.handle(new LifecycleEvent.PeersServing(others)));
  }

  @Override
  public void watchPeers(Consumer<List<Peer>> listener) {
    runner.post(() -> runner.watchPeers(listener));
  }

  @Override
  public void together(Runnable requests) {
    runner.together(requests);
  }

  @Override
  public CoordinatorStatus status() {
    return runner.status();
  }
}
