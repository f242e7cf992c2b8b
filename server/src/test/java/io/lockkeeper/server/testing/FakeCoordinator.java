package io.lockkeeper.server.testing;

import io.lockkeeper.server.coordinator.api.ClusterView;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.LockHistory;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.VisibleLocks;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchHandle;
import io.lockkeeper.server.coordinator.api.WatchListener;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.awaitility.Awaitility;

/** A coordinator that notes what it is asked and answers only when a test says what. */
public final class FakeCoordinator implements Coordinator {

  /** A request and its answer to be. */
  public record Asked<Q, A>(Q what, CompletableFuture<A> answer) {}

  public record LeaseToOpen(Duration ttl, String holder, Optional<String> secret) {}

  public record ToRelease(LeaseId lease, String requestId, long token) {}

  public record ReleaseToRequest(
      LockName lock, String requester, String reason, Optional<Duration> deadline) {}

  public record LockToForce(
      LockName lock, long token, String requester, String reason, Optional<Duration> grace) {}

  public record ReleaseToAnswer(LeaseId lease, String requestId, Duration needs) {}

  public record MetadataToUpdate(LeaseId lease, String requestId, Map<String, String> metadata) {}

  public record LockToConfigure(LockName lock, OptionalInt limit) {}

  public record LeaseToForce(LeaseName lease, String reason) {}

  public record LocksToList(String prefix, Optional<LockName> after, int limit) {}

  public record LeasesToList(String afterTag, int limit) {}

  public record LockToGet(LockName lock, int queueLimit) {}

  public record HoldsToGet(LockName lock, int limit) {}

  public record TokenToCheck(LockName lock, long token) {}

  /** An acquisition on a stream of its own. */
  public record Acquired(
      AcquireCommand command, AcquisitionListener listener, Calls<String> closed) {}

  /** A session that was attached. */
  public record Attached(
      LeaseId lease,
      String secret,
      SessionListener listener,
      CompletableFuture<Answer.LeaseAttached> attached,
      Calls<AcquireCommand> acquires,
      Calls<String> detached) {}

  /** A watch. */
  public record Watched(
      WatchFilter filter,
      long startRevision,
      WatchListener listener,
      Calls<String> ready,
      Calls<String> closed) {}

  public final Calls<Asked<LeaseToOpen, OpenedLease>> openLeases = new Calls<>("openLease");
  public final Calls<Attached> attaches = new Calls<>("attach");
  public final Calls<Asked<LeaseId, Answer>> keepAlives = new Calls<>("keepAlive");
  public final Calls<Asked<LeaseId, Answer.LeaseClosed>> closeLeases = new Calls<>("closeLease");
  public final Calls<Acquired> acquires = new Calls<>("acquire");
  public final Calls<Asked<ToRelease, Answer.ReleaseDone>> releases = new Calls<>("release");
  public final Calls<Asked<ReleaseToRequest, Answer.ReleaseAsked>> releaseRequests =
      new Calls<>("requestRelease");
  public final Calls<Asked<LockToForce, Answer.Forced>> forces = new Calls<>("forceRelease");
  public final Calls<Asked<ReleaseToAnswer, Answer.Described>> releaseAnswers =
      new Calls<>("answerRelease");
  public final Calls<Asked<MetadataToUpdate, Answer.Described>> metadataUpdates =
      new Calls<>("updateMetadata");
  public final Calls<Asked<LockToConfigure, Answer.LimitSet>> configurations =
      new Calls<>("configureLock");
  public final Calls<Asked<Freeze, Answer.FreezeChanged>> freezes = new Calls<>("freeze");
  public final Calls<Asked<String, Answer.FreezeChanged>> thaws = new Calls<>("unfreeze");
  public final Calls<Asked<LeaseToForce, Answer.LeaseClosed>> forcedLeases =
      new Calls<>("forceCloseLease");
  public final Calls<Asked<Duration, Integer>> drains = new Calls<>("drain");
  public final Calls<Asked<String, ClusterView>> clusters = new Calls<>("cluster");
  public final Calls<Asked<String, Notice.Position>> positions = new Calls<>("position");
  public final Calls<Asked<LockToGet, LockView>> getLocks = new Calls<>("getLock");
  public final Calls<Asked<HoldsToGet, LockHistory>> histories = new Calls<>("history");
  public final Calls<Asked<LocksToList, List<LockView>>> listLocks = new Calls<>("listLocks");
  public final Calls<Asked<TokenToCheck, TokenCheck>> checkTokens = new Calls<>("checkToken");
  public final Calls<Asked<LeaseId, LeaseView>> getLeases = new Calls<>("getLease");
  public final Calls<Asked<LeasesToList, List<LeaseView>>> listLeases = new Calls<>("listLeases");

  /** Whose requests the coordinator was asked to take. */
  public final List<Caller> callers = new CopyOnWriteArrayList<>();

  public final Calls<Watched> watches = new Calls<>("watch");

  public final Calls<String> suspects = new Calls<>("suspect");
  public final Calls<Integer> peersServing = new Calls<>("peers serving");

  private volatile CoordinatorStatus status = ViewSamples.serving();
  private volatile Function<LeaseId, LeaseLocation> location = lease -> new LeaseLocation.Unknown();
  private volatile Consumer<List<Peer>> peerListener = peers -> {};
  private final AtomicInteger located = new AtomicInteger();

  /** Says who serves leases that are not served here from now on. */
  public void servedBy(LeaseLocation who) {
    location = lease -> who;
  }

  /** Says who serves leases, by a question. */
  public void servedBy(Function<LeaseId, LeaseLocation> who) {
    location = who;
  }

  /** Returns how often somebody asked who serves a lease. */
  public int located() {
    return located.get();
  }

  /** Waits until somebody has asked that often who serves a lease. */
  public void awaitLocated(int times) {
    Awaitility.await().until(() -> located.get() >= times);
  }

  /** Waits until nobody has asked for a while who serves a lease. */
  public void awaitNobodyLocates() {
    AtomicInteger before = new AtomicInteger(-1);
    Awaitility.await()
        .pollInterval(Duration.ofMillis(200))
        .until(() -> before.getAndSet(located.get()) == located.get());
  }

  /** Tells who the other coordinators are. */
  public void meets(Peer... peers) {
    peerListener.accept(List.of(peers));
  }

  /** Says what {@link #status} returns from now on. */
  public void is(CoordinatorStatus now) {
    status = now;
  }

  private static <Q, A> CompletableFuture<A> ask(Calls<Asked<Q, A>> calls, Q what) {
    Asked<Q, A> asked = new Asked<>(what, new CompletableFuture<>());
    calls.add(asked);
    return asked.answer();
  }

  @Override
  public CompletableFuture<OpenedLease> openLease(
      Duration ttl, String holder, Optional<String> secret) {
    return ask(openLeases, new LeaseToOpen(ttl, holder, secret));
  }

  @Override
  public Attachment attach(LeaseId lease, String secret, SessionListener listener) {
    Attached attached =
        new Attached(
            lease,
            secret,
            listener,
            new CompletableFuture<>(),
            new Calls<>("acquire"),
            new Calls<>("detach"));
    attaches.add(attached);
    return new Attachment() {
      @Override
      public CompletableFuture<Answer.LeaseAttached> attached() {
        return attached.attached();
      }

      @Override
      public void acquire(AcquireCommand command) {
        attached.acquires().add(command);
      }

      @Override
      public void detach() {
        attached.detached().add("detached");
      }
    };
  }

  @Override
  public CompletableFuture<Answer> keepAlive(LeaseId lease) {
    return ask(keepAlives, lease);
  }

  @Override
  public CompletableFuture<Answer.LeaseClosed> closeLease(LeaseId lease) {
    return ask(closeLeases, lease);
  }

  @Override
  public Subscription acquire(AcquireCommand command, AcquisitionListener listener) {
    Acquired acquired = new Acquired(command, listener, new Calls<>("close"));
    acquires.add(acquired);
    return cancelled -> acquired.closed().add(cancelled ? "cancelled" : "closed");
  }

  @Override
  public CompletableFuture<Answer.ReleaseDone> release(
      LeaseId lease, String requestId, long token) {
    return ask(releases, new ToRelease(lease, requestId, token));
  }

  @Override
  public CompletableFuture<Answer.ReleaseAsked> requestRelease(
      LockName lock, String requester, String reason, Optional<Duration> deadline) {
    return ask(releaseRequests, new ReleaseToRequest(lock, requester, reason, deadline));
  }

  @Override
  public CompletableFuture<Answer.Forced> forceRelease(
      LockName lock, long token, String requester, String reason, Optional<Duration> grace) {
    return ask(forces, new LockToForce(lock, token, requester, reason, grace));
  }

  @Override
  public CompletableFuture<Answer.Described> answerRelease(
      LeaseId lease, String requestId, Duration needs) {
    return ask(releaseAnswers, new ReleaseToAnswer(lease, requestId, needs));
  }

  @Override
  public CompletableFuture<Answer.Described> updateMetadata(
      LeaseId lease, String requestId, Map<String, String> metadata) {
    return ask(metadataUpdates, new MetadataToUpdate(lease, requestId, metadata));
  }

  @Override
  public CompletableFuture<Answer.LimitSet> configureLock(LockName lock, OptionalInt limit) {
    return ask(configurations, new LockToConfigure(lock, limit));
  }

  @Override
  public CompletableFuture<Answer.FreezeChanged> freeze(Freeze freeze) {
    return ask(freezes, freeze);
  }

  @Override
  public CompletableFuture<Answer.FreezeChanged> unfreeze(String prefix) {
    return ask(thaws, prefix);
  }

  @Override
  public CompletableFuture<Answer.LeaseClosed> forceCloseLease(LeaseName lease, String reason) {
    return ask(forcedLeases, new LeaseToForce(lease, reason));
  }

  @Override
  public CompletableFuture<Integer> drain(Duration grace) {
    return ask(drains, grace);
  }

  @Override
  public CompletableFuture<ClusterView> cluster() {
    return ask(clusters, "");
  }

  @Override
  public CompletableFuture<Notice.Position> position(LeaseId lease, String requestId) {
    return ask(positions, requestId);
  }

  @Override
  public CompletableFuture<LockHistory> history(LockName lock, int limit) {
    return ask(histories, new HoldsToGet(lock, limit));
  }

  @Override
  public CompletableFuture<LockView> getLock(LockName lock, int queueLimit) {
    return ask(getLocks, new LockToGet(lock, queueLimit));
  }

  @Override
  public Coordinator by(Caller caller) {
    callers.add(caller);
    return this;
  }

  /** A test answers with all locks that there are; what is too many for a page follows. */
  @Override
  public CompletableFuture<LockPage> listLocks(
      String prefix, Optional<LockName> after, int limit, VisibleLocks visible) {
    return ask(listLocks, new LocksToList(prefix, after, limit)).thenApply(all -> page(all, limit));
  }

  private static LockPage page(List<LockView> all, int limit) {
    return all.size() <= limit
        ? new LockPage(all, Optional.empty())
        : new LockPage(all.subList(0, limit), Optional.of(all.get(limit - 1).lock()));
  }

  @Override
  public CompletableFuture<TokenCheck> checkToken(LockName lock, long token) {
    return ask(checkTokens, new TokenToCheck(lock, token));
  }

  @Override
  public CompletableFuture<LeaseView> getLease(LeaseId lease, int limit) {
    return ask(getLeases, lease);
  }

  @Override
  public CompletableFuture<List<LeaseView>> listLeases(String afterTag, int limit) {
    return ask(listLeases, new LeasesToList(afterTag, limit));
  }

  @Override
  public WatchHandle watch(WatchFilter filter, long startRevision, WatchListener listener) {
    Watched watched =
        new Watched(filter, startRevision, listener, new Calls<>("ready"), new Calls<>("close"));
    watches.add(watched);
    return new WatchHandle() {
      @Override
      public void ready() {
        watched.ready().add("ready");
      }

      @Override
      public void close() {
        watched.closed().add("closed");
      }
    };
  }

  @Override
  public CompletableFuture<LeaseLocation> locate(LeaseId lease) {
    located.incrementAndGet();
    return CompletableFuture.completedFuture(location.apply(lease));
  }

  @Override
  public void peersServing(int others) {
    peersServing.add(others);
  }

  @Override
  public void suspect(String id) {
    suspects.add(id);
  }

  @Override
  public void watchPeers(Consumer<List<Peer>> listener) {
    peerListener = listener;
    listener.accept(List.of());
  }

  @Override
  public void together(Runnable requests) {
    requests.run();
  }

  @Override
  public CoordinatorStatus status() {
    return status;
  }
}
